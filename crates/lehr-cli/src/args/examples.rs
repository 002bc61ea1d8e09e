//! What to type, for the end of each command's help; that of `lehr fit MODEL` is in the model's file.
//! Lines have at most 80 columns, since help breaks longer ones.

pub const LEHR: &str = "\
Start with 'lehr demo'. Every command explains itself, with -h or --help.

Topics of documents:
  lehr fit lda news.jsonl -k 20 --holdout 0.1 -o runs/news
  lehr topics runs/news
Clusters of points:
  lehr fit gmm points.csv -k 5 -o runs/points
  lehr transform runs/points points.csv -o labels.csv
Recommendations:
  lehr fit pmf ratings.dat -d 10 -o runs/films
  lehr recommend runs/films --user 42 --titles movies.dat

Every command takes --color auto, always or never; NO_COLOR turns colours off.
LEHR_ISA=portable, avx2 or avx512 takes a lesser instruction set than the best.
Components, topics and factors are numbered from 0, as in Python.
Exit codes: 0 done (a --time limit counts), 1 interrupted with a usable model,
2 error, 130 ended by a signal before there was a model, or by a second one.";

pub const COMPLETIONS: &str = "\
Examples:
  lehr completions bash > ~/.local/share/bash-completion/completions/lehr
  lehr completions zsh > ~/.zfunc/_lehr       with ~/.zfunc in fpath
  lehr completions fish > ~/.config/fish/completions/lehr.fish";

pub const MAN: &str = "\
Examples:
  lehr man | man -l -
  lehr man ~/.local/share/man/man1            then: man lehr-fit-gmm";

pub const REPRODUCE: &str = "Examples:\n  \
    lehr reproduce all --quick -o out\n  \
    lehr reproduce fig3 -o out\n  \
    lehr reproduce fig1 --data DIR --runs 5 -o out\n\n\
    MovieLens and the news corpora are not ours to ship; docs/paper/reproduce.md\n\
    says where to get them. Run the same command again to continue an interrupted one.";

pub const RECOMMEND: &str = "\
mean is for what a user will like most now. ucb prefers items of which the model
is unsure, so that it learns; thompson shows each item as often as it may be the
best. Users that the model does not know get what most people like.

Examples:
  lehr recommend runs/ml --user 42 --top 5 --titles movies.dat
  lehr recommend runs/ml --user 42 --user 43 --by ucb --beta 2
  lehr recommend runs/ml --user 42 --by thompson --seed 7 --json
  lehr recommend runs/ml --user new --ratings today.csv     folded in
  lehr recommend runs/ml --all --top 20 -o lists.parquet
      user, rank, item, rating, sd
  lehr recommend runs/ml --user 42 --explain 3 --clip --exclude sold-out.txt";

pub const SIMILAR: &str = "\
1: users rate both alike; 0: ratings of one say nothing about the other. sd says
how sure that is; what has few ratings is like nothing.

Examples:
  lehr similar runs/ml --item 260 --titles movies.dat
  lehr similar runs/ml --user 42 --top 5 --json";

pub const PARTIAL: &str = "\
The new run keeps the settings and schedules of the old one, from the step where
that stands, unless flags say otherwise; nothing is held out unless --holdout
says so.

Examples:
  lehr partial runs/news today.jsonl -o runs/news-2
  lehr partial runs/news today.jsonl -o runs/news-2 --steps 50 --batch 200";

pub const SWEEP: &str = "\
All sizes share one prior, so that their bounds compare. Items that are held
out, one part after the other, are scored; the smallest size whose score is
within one standard error of the best is recommended. A Dirichlet process finds
its number of clusters by itself: 'lehr fit dpgmm'.

Examples:
  lehr sweep gmm points.csv -k 2..12 -o sweeps/a
  lehr sweep gmm points.csv -k 2,4,8 --covariance full,tied,diagonal
  lehr sweep lda news.txt.gz -k 10..100:10 --batch 500 --n-init 1 --folds 3
  lehr sweep pmf ratings.csv -k 5,10,20,50 --folds 3
  lehr resume sweeps/a                       an interrupted sweep goes on
  lehr show sweeps/a                         the table again
  lehr show sweeps/a/k8                      an ordinary run, as all below it";

pub const EVAL: &str = "\
Examples:
  lehr eval runs/a heldout.csv
  lehr eval runs/news heldout.txt.gz --json
  lehr eval runs/ml test.csv                 RMSE, MAE, how often intervals hold
  lehr eval runs/ml test.csv --top 10 --relevant 4
      and NDCG, recall, precision, MAP, hit rate and coverage of lists of 10
      items, and of a most-popular baseline";

pub const TRANSFORM: &str = "\
Examples:
  lehr transform runs/a points.csv -o labels.csv
      label, responsibility_0, responsibility_1, ...
  lehr transform runs/a new.csv -o labels.csv --id name --keep city,year
  lehr transform runs/news new.txt.gz -o theta.npy
      one row a document, one column a topic
  lehr transform runs/news new.jsonl -o theta.csv
      id, main_topic, topic_0, topic_1, ...
  lehr transform runs/news new.csv -o theta.csv --field body --id url
  lehr transform runs/ml new.csv -o factors.parquet
      new users and items: side, id, factor_0, ...";

pub const REPORT: &str = "\
The page is one file that loads nothing: it opens from disk in any browser, with
or without JavaScript, and can be mailed and printed. The same run makes the same
bytes. Documents, items and names are in it only if --data gives them.

Examples:
  lehr report runs/news -o news.html
  lehr report runs/news --data news.jsonl --by date -o news.html
  lehr report runs/points --data points.csv --id name -o points.html
  lehr report runs/ml --titles movies.dat --user 42 -o films.html
  lehr report runs/a runs/b runs/c -o compare.html
  lehr report sweeps/k -o sizes.html";

pub const PLOT: &str = "\
Numbers of topics and components are the model's own. What needs items of the
data, e.g. the dots of clusters, is drawn with --data only. 'lehr report' has all
pictures on one page, with their numbers.

Examples:
  lehr plot runs/a -o bound.png
  lehr plot runs/news -o news.svg --what topics
  lehr plot runs/news -o months.png --what groups --data news.jsonl --by date
  lehr plot runs/points -o points.png --what clusters --data points.csv
  lehr plot runs/ml -o calibration.svg --what calibration
  lehr plot sweeps/k -o k.png --what held-out";

pub const TOPICS: &str = "\
Relevance is X ln p(word|topic) + (1 - X) ln(p(word|topic) / p(word)): 1 is the
order by probability, 0 puts words first that are rare elsewhere. The coherence
(NPMI) is 1 for words that always stand in the same documents, 0 for those that
meet as by chance, -1 for those that never do. Topics are numbered from 0.

Examples:
  lehr topics runs/news --top 15
  lehr topics runs/news --sort coherence --relevance 0.3
  lehr topics runs/news --json --no-coherence
  lehr topics runs/news --diagnostics -o topics.csv
  lehr topics runs/news --documents news.jsonl --top-documents 3
  lehr topics runs/news --name 3=sport --name 7=weather";

pub const COMPARE: &str = "\
Parts are matched one to one so that they have as much in common as can be:
topics by their words (1 if both give every word the same probability), clusters
by how far they lie over each other, latent dimensions by the items' factors.

Examples:
  lehr compare runs/news-1 runs/news-2       do the same topics come back?
  lehr compare sweeps/a/k10 sweeps/a/k12 --json
  lehr compare runs/news-1 runs/news-2 -o matches.csv";

pub const CONVERT: &str = "\
Examples:
  lehr convert news.jsonl -o news.lehr
  lehr convert reviews.csv.gz --field review -o reviews.lehr
  lehr convert docword.txt.gz --vocab vocab.txt -o corpus.lehr
  lehr fit lda corpus.lehr -k 50
  lehr convert articles/*.parquet --shards 64 -o news.shards
  lehr convert sensors/*.npy --shards 64 --kind points -o sensors.shards
  lehr convert ratings.dat --shards 8 --kind ratings -o ratings.shards";
