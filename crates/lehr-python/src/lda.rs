//! Latent Dirichlet allocation.

use lehr::fit::State;
use lehr::lambda::Lambda;
use lehr::math::table::Table;
use lehr::memory::room_for;
use lehr::model::{Judge, Model};
use lehr::models::lda::{Coherence, Coherences, Rounded};
use lehr::models::{Lda as Core, Stored};
use lehr::step::engine::Threads;
use numpy::Element;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::arrays::{matrix, set, shaped, vector};
use crate::data::Docs;
use crate::distributed::on_workers;
use crate::errors::parts;
use crate::fitted::model_class;
use crate::run::computed;

model_class!(
    /// A fitted LDA model.
    Lda,
    Docs,
    begins
);

on_workers!(Lda, Docs);

/// The state of given topics: K rows of V parameters.
fn begins(
    model: &Core,
    _data: &lehr::data::Docs,
    (rows, columns): (usize, usize),
    values: &[f64],
) -> lehr::Result<State> {
    let (n_words, k) = (model.vocabulary().n_words(), model.params().topics);
    if (rows, columns) != (k, n_words) {
        return Err(lehr::Error::data(format!(
            "initial topics are {rows} x {columns}; {k} x {n_words} are needed, a row for each \
             topic and a column for each word"
        )));
    }
    let mut table = Table::new(n_words, k);
    for w in 0..n_words {
        table.row_mut(w).iter_mut().enumerate().for_each(|(k, x)| *x = values[k * n_words + w]);
        model.take_seeds(w, table.row_mut(w));
        let fine = table.row(w).iter().all(|x| x.is_finite()) && model.in_domain(w, table.row(w));
        if !fine {
            return Err(lehr::Error::data(format!(
                "initial topics are positive numbers, and word {} has one that is not",
                w + 1
            )));
        }
    }
    Ok(State::at(model, table))
}

#[pymethods]
impl Lda {
    /// The parameters of the topics, K rows of V numbers.
    fn components<'py>(&self, py: Python<'py>, threads: usize) -> PyResult<Bound<'py, PyAny>> {
        self.by_topic(py, threads, Core::components)
    }

    /// exp(E[ln beta]), K rows of V numbers.
    fn expected_topics<'py>(&self, py: Python<'py>, threads: usize) -> PyResult<Bound<'py, PyAny>> {
        self.by_topic(py, threads, Core::expected_topics)
    }

    /// What was learned or given besides the topics.
    fn attributes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (model, lambda) = (&self.fitted.model, self.fitted.lambda());
        let out = PyDict::new(py);
        set(&out, "alpha", model.alpha(lambda).to_vec())?;
        match model.word_eta() {
            None => out.set_item("eta", model.eta(lambda))?,
            Some(each) => set(&out, "eta", each.to_vec())?,
        }
        set(&out, "word_counts", model.word_counts().to_vec())?;
        let names = (0..model.params().topics).map(|topic| model.topic_name(topic));
        out.set_item("topic_names", names.collect::<Vec<_>>())?;
        out.set_item("words", model.vocabulary().names().map(<[String]>::to_vec))?;
        out.set_item("tokens", Judge::words(model, self.fitted.config.population()))?;
        Ok(out)
    }

    /// Topics by numbers, looked at by their first words, as JSON.
    fn diagnose(&self, py: Python<'_>, n_words: usize, threads: usize) -> PyResult<String> {
        computed(py, threads, || {
            let found = self.fitted.model.diagnose(self.fitted.lambda(), n_words);
            Ok(serde_json::to_string(&found).expect("plain values become JSON"))
        })
    }

    /// The documents of each topic, as JSON.
    fn topic_documents(
        &self,
        py: Python<'_>,
        data: &Docs,
        n: usize,
        threads: usize,
    ) -> PyResult<String> {
        computed(py, threads, || {
            self.check(data)?;
            let found = self.fitted.model.topic_documents(self.fitted.lambda(), &data.data, n);
            data.data.fault().map_or(Ok(()), Err)?;
            Ok(serde_json::to_string(&found).expect("plain values become JSON"))
        })
    }

    /// How well the first words of each topic go together in documents: NPMI, UMass and C_V, NaN where there are none.
    fn coherence<'py>(
        &self,
        py: Python<'py>,
        data: &Docs,
        n_words: usize,
        threads: usize,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let found = computed(py, threads, || {
            self.check(data)?;
            let words = self.fitted.model.first_words(self.fitted.lambda(), n_words);
            let counts = Coherence::new(&data.data, words.iter().flatten().copied());
            data.data.fault().map_or(Ok(()), Err)?;
            let found: Vec<Coherences> = words.iter().map(|words| counts.of(words)).collect();
            let of = |measure: fn(&Coherences) -> Option<f64>| -> Vec<f64> {
                found.iter().map(|found| measure(found).unwrap_or(f64::NAN)).collect()
            };
            Ok([of(|c| c.npmi), of(|c| c.umass), of(|c| c.c_v)])
        })?;
        Ok(found.into_iter().map(|values| vector(py, values)).collect())
    }

    /// What someone who has fitted it should know, each in parts.
    fn notes<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyList>>> {
        self.fitted.model.notes(&[]).iter().map(|note| parts(py, note)).collect()
    }

    /// The same with names for some topics; an empty one takes a name away.
    fn with_topic_names(&self, py: Python<'_>, names: Vec<(usize, String)>) -> PyResult<Self> {
        computed(py, 1, || {
            let model = self.fitted.model.with_topic_names(names)?;
            Ok(Lda::new(self.fitted.with(model, self.fitted.lambda().clone())))
        })
    }

    /// The same with names for the words.
    fn with_words(&self, py: Python<'_>, names: Vec<String>) -> PyResult<Self> {
        computed(py, 1, || {
            let model = self.fitted.model.with_words(names)?;
            Ok(Lda::new(self.fitted.with(model, self.fitted.lambda().clone())))
        })
    }

    /// Whether readouts of these documents are so short that one thread is enough.
    fn is_short(&self, data: &Docs) -> bool {
        const SHORT: usize = 1 << 16;
        let (docs, k) = (&data.data, self.fitted.model.params().topics);
        let entries = || (0..docs.n_items()).map(|n| docs.doc(n).len()).sum::<usize>();
        docs.n_items() <= 64 && entries().saturating_mul(k) <= SHORT
    }

    /// gamma of each document, its shares if `normalize`; as float32 if `single`.
    fn transform<'py>(
        &self,
        py: Python<'py>,
        data: &Docs,
        normalize: bool,
        single: bool,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match single {
            true => self.topics::<f32>(py, data, normalize, threads),
            false => self.topics::<f64>(py, data, normalize, threads),
        }
    }

    /// The bound with these documents in place of the training documents, and their words.
    fn bound(&self, py: Python<'_>, data: &Docs, threads: Option<usize>) -> PyResult<(f64, f64)> {
        computed(py, threads.unwrap_or(1), || {
            self.check(data)?;
            let (model, lambda) = (&self.fitted.model, self.fitted.lambda());
            let bound = lehr::fit::bound(model, lambda, &mut Threads::new(model, &data.data))?;
            Ok((bound, data.data.tokens()))
        })
    }

    /// A page of HTML, with documents, their texts and what they belong to if there are any.
    #[pyo3(signature = (threads, data=None, texts=None, groups=None))]
    fn report(
        &self,
        py: Python<'_>,
        threads: usize,
        data: Option<&Docs>,
        texts: Option<Vec<String>>,
        groups: Option<(String, Vec<String>)>,
    ) -> PyResult<String> {
        computed(py, threads, || {
            let mut given = lehr_report::topics::Given { groups, ..Default::default() };
            if let Some(data) = data {
                self.check(data)?;
                let docs = (*data.data).clone();
                given.counted = Some(Ok(docs.clone()));
                given.documents = Some(match texts {
                    Some(texts) => docs.with_texts(texts)?,
                    None => docs,
                });
            }
            lehr_report::one("", &self.fitted, &given)
        })
    }

    /// The scores of documents in nats per word, by name.
    fn scores<'py>(
        &self,
        py: Python<'py>,
        data: &Docs,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let scores = computed(py, threads.unwrap_or(1), || {
            self.check(data)?;
            let population = self.fitted.config.population();
            let (model, lambda) = (&self.fitted.model, self.fitted.lambda());
            Ok(model.score_docs(lambda, &data.data, population))
        })?;
        let out = PyDict::new(py);
        out.set_item("local", scores.local)?;
        out.set_item("full", scores.full)?;
        out.set_item("completion", scores.completion)?;
        out.set_item("unigram", scores.unigram)?;
        Ok(out)
    }
}

impl Lda {
    /// A row of K numbers for each document.
    fn topics<'py, T: Rounded + Element + Default + Clone>(
        &self,
        py: Python<'py>,
        data: &Docs,
        shares: bool,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (model, docs) = (&self.fitted.model, &data.data);
        let (n, k) = (docs.n_items(), model.params().topics);
        let values = computed(py, threads.unwrap_or(1), || {
            self.check(data)?;
            let numbers = n.saturating_mul(k);
            if threads.is_some() {
                room_for(&format!("an array of {n} documents x {k} topics"), numbers)?;
            }
            let mut out = vec![T::default(); numbers];
            model.topic_reader(self.fitted.lambda(), docs).fill(0..n, shares, &mut out);
            docs.fault().map_or(Ok(out), Err)
        })?;
        matrix(py, values, [n, k])
    }

    fn check(&self, data: &Docs) -> lehr::Result<()> {
        self.fitted.model.check_fits(&data.data, &[])
    }

    /// A number for each topic and word.
    fn by_topic<'py>(
        &self,
        py: Python<'py>,
        threads: usize,
        numbers: fn(&Core, &Lambda) -> Vec<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let model = &self.fitted.model;
        let (k, v) = (model.params().topics, model.vocabulary().n_words());
        let values = computed(py, threads, || {
            room_for(&format!("an array of {k} topics x {v} words"), k.saturating_mul(v))?;
            Ok(numbers(model, self.fitted.lambda()))
        })?;
        shaped(py, values, &[k, v])
    }
}
