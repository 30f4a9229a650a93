//! IndexedDB passes the suite that every storage must pass.

use std::cell::Cell;

use adk_session::conformance;
use adk_session_wasm::indexed_db::{IndexedDbOptions, IndexedDbStorage};
use wasm_bindgen_test::wasm_bindgen_test;

/// Each case gets a new database, which is deleted before the next case.
async fn conforms(name: &str, options: IndexedDbOptions) {
    let number = Cell::new(0);
    let name_of = |number: u32| format!("conformance {name} {number}");
    let delete = async |number| {
        let deleted = IndexedDbStorage::delete_database(&name_of(number), 5000.0).await;
        assert!(deleted.is_ok(), "{deleted:?}");
    };
    let open = async || {
        delete(number.get()).await;
        number.set(number.get() + 1);
        IndexedDbStorage::new(&name_of(number.get()), None, options)
    };
    let report = conformance::run(open).await;
    delete(number.get()).await;
    assert!(report.failures.is_empty(), "\n{report}");
}

#[wasm_bindgen_test]
async fn relaxed_indexed_db_conforms() {
    conforms("relaxed", IndexedDbOptions::default()).await;
}

#[wasm_bindgen_test]
async fn strict_indexed_db_conforms() {
    conforms("strict", IndexedDbOptions { strict: true, ..Default::default() }).await;
}
