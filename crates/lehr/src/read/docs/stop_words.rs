//! Words that say nothing about a text's topic.

use std::collections::HashSet;

use super::super::source::{Needed, Source};
use super::lines::Lines;
use super::tokens::Splitter;
use super::{Language, StopWords};
use crate::Result;

const NEEDED: Needed = Needed {
    files: "a text file with one word a line",
    least: "a file with one word a line",
    most: Some(16 << 20),
};

/// English function words, and the pieces into which an apostrophe splits contractions.
const ENGLISH: &str = "
a about above accordingly across actually after afterwards again against ago albeit all almost alone
along already also although altogether always am amid among amongst an and another any anybody anyhow
anymore anyone anything anyway anyways anywhere apart are around as aside at away
back be became because become becomes becoming been before beforehand began begin begins behind being
below beneath beside besides best better between beyond both brief briefly but by
came can cannot certain certainly clearly come comes coming completely consequently considering could
currently
definitely despite did different do does doing done down downwards due during
each eight eighth either eleven else elsewhere enough entirely especially even eventually ever every
everybody everyone everything everywhere exactly except
far few fewer fifth first firstly five following follows for former formerly forth four fourth from
fully further furthermore
gave generally get gets getting give given gives giving go goes going gone got gotten
had hardly has have having he hello hence her here hereafter hereby herein hereupon hers herself him
himself his hither hopefully how howbeit however hundred
i if immediately in indeed inside insofar instead into inward is it its itself
just keep keeps kept knew know known knows
lastly lately later latter latterly least less lest let lets like liked likely likewise little look
looked looking looks lot lots
made mainly make makes making many may maybe me mean means meanwhile merely might mine more moreover
most mostly much must my myself
namely near nearby nearly necessarily need needed needs neither never nevertheless next nine ninth no
nobody none nonetheless noone nor normally not nothing notwithstanding now nowhere
obviously of off often oh okay on once one ones only onto or other others otherwise ought our ours
ourselves out outside over overall own
particular particularly per perhaps please plus possible possibly presumably previously probably put
puts
quite rather really reasonably regarding regardless relatively respectively right
said same saw say saying says second secondly see seeing seem seemed seeming seems seen seldom self
selves seven seventh several shall she should since six sixth so some somebody somehow someone
something sometime sometimes somewhat somewhere soon still such sure
take taken takes taking tell ten tend tends than that the their theirs them themselves then thence
there thereafter thereby therefore therein thereof thereupon these they thing things think third this
thorough thoroughly those though three through throughout thru thus till to together told too took
toward towards tried tries truly try trying twelve twenty twice two
under underneath undoubtedly unfortunately unless unlike unlikely until unto up upon upwards us use
used uses using usually
various versus very via want wanted wants was way ways we well went were what whatever whatsoever when
whence whenever where whereafter whereas whereby wherein whereupon wherever whether which whichever
while whilst whither who whoever whole whom whomever whose why will willing with within without would
yes yet you your yours yourself yourselves zero
ain aren couldn d didn doesn don hadn hasn haven isn ll m mightn mustn needn o re s shan shouldn t ve
wasn weren won wouldn
";

impl Language {
    /// Its function words.
    fn words(self) -> &'static str {
        match self {
            Language::Dutch => include_str!("stop_words/dutch.txt"),
            Language::French => include_str!("stop_words/french.txt"),
            Language::German => include_str!("stop_words/german.txt"),
            Language::Italian => include_str!("stop_words/italian.txt"),
            Language::Portuguese => include_str!("stop_words/portuguese.txt"),
            Language::Spanish => include_str!("stop_words/spanish.txt"),
        }
    }
}

/// The words to leave out, as the tokeniser would split them.
pub(super) fn read(chosen: &Option<StopWords>, splitter: Splitter) -> Result<HashSet<String>> {
    let path = match chosen {
        None | Some(StopWords::English) => {
            return Ok(ENGLISH.split_whitespace().map(str::to_string).collect());
        }
        Some(StopWords::Of(language)) => {
            return Ok(language.words().split_whitespace().map(str::to_string).collect());
        }
        Some(StopWords::None) => return Ok(HashSet::new()),
        Some(StopWords::File(path)) => path,
    };
    let mut source = Source::open(path, &NEEDED)?;
    source.check_text(&NEEDED)?;
    let mut lines = Lines::new(source);
    let (mut words, mut buffer) = (HashSet::new(), String::new());
    while let Some(line) = lines.read()? {
        match std::str::from_utf8(line) {
            Ok(line) => splitter.each(line, &mut buffer, |word| {
                words.insert(word.to_string());
            }),
            Err(_) => return Err(lines.fault("", "is not UTF-8; save the file as UTF-8")),
        }
    }
    Ok(words)
}
