//! The errors of a caller in Rust.

use std::fmt;

use adk_session::storage::{Call, Deletion, Storage};
use adk_session::{Error, SessionKey};
use adk_session_wasm::indexed_db::{IndexedDbOptions, IndexedDbStorage};
use wasm_bindgen_test::wasm_bindgen_test;

#[derive(Debug)]
struct GivenUp;

impl fmt::Display for GivenUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the caller has given up")
    }
}

impl std::error::Error for GivenUp {}

impl Call for GivenUp {
    fn check(&self) -> Result<(), Error> {
        Err(Error::Other(Box::new(GivenUp)))
    }
}

#[wasm_bindgen_test]
async fn a_call_that_is_given_up_gets_its_own_error() -> Result<(), Error> {
    let storage = IndexedDbStorage::new("calls: given up", None, IndexedDbOptions::default());
    let session = Deletion::Session(SessionKey::new("app", "user", "session")?);
    let deleted = storage.delete(&session, &GivenUp).await;
    let is_own = matches!(&deleted, Err(Error::Other(error)) if error.is::<GivenUp>());
    assert!(is_own, "{deleted:?}");
    IndexedDbStorage::delete_database("calls: given up", 5000.0).await
}
