//! What to type, for the end of each command's help; that of `lehr fit MODEL` is in the model's file.

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
