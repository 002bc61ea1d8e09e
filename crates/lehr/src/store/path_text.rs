//! Paths in files of a run: text, or `{"bytes": [...]}` for those few that are no UTF-8.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserializer, Serialize, Serializer};

use crate::platform::{bytes_of, from_bytes};

/// The one field of a path that is no text.
const BYTES: &str = "bytes";

/// Writes a path.
pub fn serialize<S: Serializer>(path: impl AsRef<Path>, serializer: S) -> Result<S::Ok, S::Error> {
    Written(path.as_ref()).serialize(serializer)
}

/// Reads a path.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
    deserializer.deserialize_any(Reader)
}

/// The same for paths that may be absent.
pub mod option {
    use super::{PathBuf, Reader, Visitor, Written, fmt};
    use serde::{Deserializer, Serializer};

    /// Writes a path.
    pub fn serialize<S: Serializer>(
        path: &Option<PathBuf>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match path.as_deref() {
            Some(path) => serializer.serialize_some(&Written(path)),
            None => serializer.serialize_none(),
        }
    }

    /// Reads a path.
    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<PathBuf>, D::Error> {
        struct Optional;

        impl<'de> Visitor<'de> for Optional {
            type Value = Option<PathBuf>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                Reader.expecting(f)
            }

            fn visit_none<E>(self) -> Result<Self::Value, E> {
                Ok(None)
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(None)
            }

            fn visit_some<D: Deserializer<'de>>(
                self,
                deserializer: D,
            ) -> Result<Self::Value, D::Error> {
                super::deserialize(deserializer).map(Some)
            }
        }

        deserializer.deserialize_option(Optional)
    }
}

struct Written<'a>(&'a Path);

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(text) => serializer.serialize_str(text),
            None => serializer.collect_map([(BYTES, bytes_of(self.0))]),
        }
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = PathBuf;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a path")
    }

    fn visit_str<E>(self, text: &str) -> Result<PathBuf, E> {
        Ok(PathBuf::from(text))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PathBuf, A::Error> {
        match map.next_entry::<String, Vec<u8>>()? {
            Some((name, bytes)) if name == BYTES => Ok(from_bytes(bytes)),
            _ => Err(A::Error::custom("a path is a text, or bytes")),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Paths {
        #[serde(with = "super")]
        run: PathBuf,
        #[serde(with = "super::option", default)]
        data: Option<PathBuf>,
    }

    #[test]
    fn any_path_survives_json_and_toml() {
        let odd = || from_bytes(b"/data/lat\xe4/p.csv".to_vec());
        for data in [None, Some(odd()), Some("a b.csv".into())] {
            let paths = Paths { run: odd(), data };
            let text = serde_json::to_string(&paths).unwrap();
            assert_eq!(serde_json::from_str::<Paths>(&text).unwrap(), paths);
            let text = toml::to_string(&paths).unwrap();
            assert_eq!(toml::from_str::<Paths>(&text).unwrap(), paths);
        }
        let shown = |path: &Path| serde_json::to_string(&Written(path)).unwrap();
        assert_eq!(shown(Path::new("a b.csv")), "\"a b.csv\"");
        assert_eq!(shown(&from_bytes(b"\xff".to_vec())), "{\"bytes\":[255]}");
        for (wrong, expected) in [("{\"run\":3}", "expected a path"), ("{\"run\":{}}", "a text")] {
            let error = serde_json::from_str::<Paths>(wrong).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
