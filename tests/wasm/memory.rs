//! The conformance suite over the storage in memory.

use adk_session::conformance;
use adk_session::memory::MemoryStorage;
use wasm_bindgen_test::wasm_bindgen_test;

#[wasm_bindgen_test]
async fn memory_conforms() {
    let report = conformance::run(async || MemoryStorage::new()).await;
    assert!(report.failures.is_empty(), "\n{report}");
}
