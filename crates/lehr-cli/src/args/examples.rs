//! What to type, for the end of each command's help.

pub const PMF: &str = "\
Examples:
  lehr fit pmf ratings.dat -d 10 --holdout 0.1 -o runs/ml               batch VI
  lehr fit pmf ratings.csv -d 20 --user who --item what --rating stars
  lehr fit pmf ratings.dat -d 10 --effective 50t -o runs/b              annealed
  lehr fit pmf ratings.dat -d 10 --preset paper -o runs/p               the paper's model
  lehr recommend runs/ml --user 42 --titles movies.dat";

pub const REPRODUCE: &str = "Examples:\n  \
    lehr reproduce all --quick -o out\n  \
    lehr reproduce fig3 -o out\n  \
    lehr reproduce fig1 --data DIR --runs 5 -o out\n\n\
    MovieLens and the news corpora are not ours to ship: the README says where to get them.\n\
    An interrupted command goes on where it stopped when it is given again.";

pub const RECOMMEND: &str = "\
mean is for what a user will like most now. ucb prefers items of which the model is unsure, so that
it learns; thompson shows each item as often as it may be the best. Users that the model does not
know get what most people like.

Examples:
  lehr recommend runs/ml --user 42 --top 5 --titles movies.dat
  lehr recommend runs/ml --user 42 --user 43 --by ucb --beta 2
  lehr recommend runs/ml --user 42 --by thompson --seed 7 --json
  lehr recommend runs/ml --user new --ratings today.csv                 folded in, not fitted again";

pub const LDA: &str = "\
Examples:
  lehr fit lda docword.txt.gz --vocab vocab.txt -k 150 --batch 1000 --effective 100 --steps 1500
  lehr fit lda news.jsonl --field body -k 50 --batch 1000 --holdout 500 -o runs/news
  lehr fit lda small.txt -k 10 --stop-words none                        batch VI
  lehr fit lda corpus.lehr -k 50 --batch 1000 --seed-topics runs/news   go on from its topics";

pub const PARTIAL: &str = "\
The new run keeps the settings and schedules of the old one, from the step where that stands,
unless flags say otherwise; nothing is held out unless --holdout says so.

Examples:
  lehr partial runs/news today.jsonl -o runs/news-2
  lehr partial runs/news today.jsonl -o runs/news-2 --steps 50 --batch 200";

pub const EVAL: &str = "\
Examples:
  lehr eval runs/a heldout.csv
  lehr eval runs/news heldout.txt.gz --json
  lehr eval runs/ml test.csv                          RMSE, MAE, coverage of the intervals";

pub const TRANSFORM: &str = "\
Examples:
  lehr transform runs/a points.csv -o labels.csv      label, responsibility_0, responsibility_1, ...
  lehr transform runs/a new.csv -o labels.csv --id name --keep city,year
  lehr transform runs/news new.txt.gz -o theta.npy    one row a document, one column a topic
  lehr transform runs/news new.txt.gz -o theta.csv    topic_1, topic_2, ...
  lehr transform runs/ml new.csv -o factors.parquet   new users and items: side, id, factor_1, ...";

pub const TOPICS: &str = "\
Relevance is X ln p(word|topic) + (1 - X) ln(p(word|topic) / p(word)): 1 is the order by
probability, 0 puts words first that are rare elsewhere. The coherence (NPMI) is 1 for words that
always stand in the same documents, 0 for those that meet as by chance, -1 for those that never do.

Examples:
  lehr topics runs/news --top 15
  lehr topics runs/news --sort coherence --relevance 0.3
  lehr topics runs/news --json --no-coherence";

pub const CONVERT: &str = "\
Examples:
  lehr convert news.jsonl -o news.lehr
  lehr convert docword.txt.gz --vocab vocab.txt -o corpus.lehr
  lehr fit lda corpus.lehr -k 50";

pub const FIT: &str = "\
Examples:
  lehr fit gmm points.csv -k 10 -o runs/a                               batch VI
  lehr fit gmm points.csv -k 10 --batch 200 -o runs/b                   SVI
  lehr fit gmm points.csv -k 10 --batch 200 --effective 50 -o runs/c    SVI+
  lehr fit gmm points.csv -k 10 --effective geometric:10:150 -o runs/d  annealed batch VI
  lehr fit dpgmm points.parquet -k 50 --n-init 5 --drop label -o runs/e
  lehr fit gmm survey.csv -k 4 --drop name --missing drop-rows -o runs/f";
