//! Finds sessions by their bare ids.

use adk_session::session::SessionKey;
use adk_session::storage::Call;
use js_sys::Array;
use wasm_bindgen::JsCast;

use crate::indexed_db::connection::access::Access;
use crate::indexed_db::connection::transaction::Mode;
use crate::indexed_db::records::failure::Failure;
use crate::indexed_db::records::schema::SESSIONS;

/// Returns the keys of all sessions with that id.
pub(super) async fn find(
    access: &Access,
    session_id: &str,
    call: &dyn Call,
) -> Result<Vec<SessionKey>, Failure> {
    access.run_with_retries(call, || find_once(access, session_id)).await
}

async fn find_once(access: &Access, session_id: &str) -> Result<Vec<SessionKey>, Failure> {
    let transaction = access.begin(Mode::Read, &[SESSIONS]).await?;
    transaction.get_all_keys(SESSIONS);
    let stored: Array = transaction.results().await?.get(0).unchecked_into();
    let mut keys = Vec::new();
    for key in stored {
        let key: Array = key.unchecked_into();
        let [app_name, user_id, id] = [0, 1, 2].map(|index| key.get(index).as_string());
        if id.as_deref() == Some(session_id)
            && let Some((app_name, user_id)) = app_name.zip(user_id)
        {
            keys.push(SessionKey::stored(app_name, user_id, session_id.to_owned()));
        }
    }
    Ok(keys)
}
