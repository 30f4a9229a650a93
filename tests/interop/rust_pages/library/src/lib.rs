//! A page that uses the library alone.

use adk_session::{CreateRequest, InMemorySessionService, SessionService, inject_session_state};
use wasm_bindgen::prelude::*;

/// Prints an instruction with a value of a session.
#[wasm_bindgen]
pub async fn instruction(text: String) -> Result<String, JsError> {
    let service = InMemorySessionService::new();
    let session = service
        .create(CreateRequest {
            app_name: "shop".to_string(),
            user_id: "ada".to_string(),
            state: [("topic".to_string(), "rivers".into())].into(),
            ..Default::default()
        })
        .await?;
    Ok(inject_session_state(&text, &session).await?)
}
