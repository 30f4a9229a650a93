//! The note in a new database; see `CreationNote` in `js/stores/indexed_db/layout.ts`.

use js_sys::Function;
use wasm_bindgen::JsValue;

use crate::indexed_db::connection::access::Access;
use crate::indexed_db::connection::transaction::Mode;
use crate::indexed_db::records::failure::Failure;
use crate::indexed_db::records::schema::{CREATION, META};
use crate::object::JsObject;

/// Reads the note; `undefined` if there is none. With `change`, changes it in the same transaction:
/// `change` gets it, and returns the new one, `null` to delete it, or `undefined`.
pub(super) async fn update(access: &Access, change: Option<&Function>) -> Result<JsValue, Failure> {
    access.run_with_retries(&(), || update_once(access, change)).await
}

async fn update_once(access: &Access, change: Option<&Function>) -> Result<JsValue, Failure> {
    let mode = if change.is_some() { Mode::Write } else { Mode::Read };
    let transaction = access.begin(mode, &[META]).await?;
    transaction.get(META, &CREATION.into());
    let note = transaction.results().await?.pop();
    let Some(change) = change else {
        return Ok(note);
    };
    let changed = change.call1(&JsValue::UNDEFINED, &note).map_err(Failure::thrown)?;
    if changed.is_null() {
        transaction.delete(META, &CREATION.into());
    } else if let Some(changed) = JsObject::found(changed) {
        transaction.put(META, &changed);
    }
    transaction.commit().await?;
    Ok(note)
}
