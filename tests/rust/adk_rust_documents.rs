//! The calls of adk-rust's documents on sessions and state, in the form that they have there. A request
//! names exactly the fields of the document, without `..Default::default()`.

mod requests {
    use adk_session::{CreateRequest, DeleteRequest, GetRequest, ListRequest};
    use std::collections::HashMap;

    #[test]
    fn requests_have_exactly_the_fields_of_the_document() {
        let create = CreateRequest {
            app_name: "my_app".to_string(),
            user_id: "user_123".to_string(),
            session_id: None,
            state: HashMap::new(),
        };
        let get = GetRequest {
            app_name: "my_app".to_string(),
            user_id: "user_123".to_string(),
            session_id: "session_abc".to_string(),
            num_recent_events: Some(10),
            after: None,
        };
        let list = ListRequest { app_name: "my_app".to_string(), user_id: "user_123".to_string() };
        let delete = DeleteRequest {
            app_name: "my_app".to_string(),
            user_id: "user_123".to_string(),
            session_id: "session_abc".to_string(),
        };
        let CreateRequest { app_name: _, user_id: _, session_id: _, state: _ } = create;
        let GetRequest { app_name: _, user_id: _, session_id: _, num_recent_events: _, after: _ } =
            get;
        let ListRequest { app_name: _, user_id: _ } = list;
        let DeleteRequest { app_name: _, user_id: _, session_id: _ } = delete;
    }
}

mod sessions {
    use adk_session::{
        CreateRequest, DeleteRequest, Event, GetRequest, InMemorySessionService, KEY_PREFIX_USER,
        ListRequest, SessionService,
    };
    use serde_json::json;
    use std::collections::HashMap;

    #[tokio::main]
    async fn main() -> anyhow::Result<()> {
        let service = InMemorySessionService::new();

        let mut initial_state = HashMap::new();
        initial_state.insert(format!("{}name", KEY_PREFIX_USER), json!("Alice"));
        initial_state.insert("topic".to_string(), json!("Getting started"));

        let session = service
            .create(CreateRequest {
                app_name: "demo".to_string(),
                user_id: "alice".to_string(),
                session_id: None,
                state: initial_state,
            })
            .await?;
        assert_eq!(session.id().len(), 36);
        assert_eq!((session.app_name(), session.user_id()), ("demo", "alice"));

        let state = session.state();
        assert_eq!(state.get("user:name"), Some(json!("Alice")));
        assert_eq!(state.get("topic"), Some(json!("Getting started")));

        let event = Event::new("inv_001");
        service.append_event(session.id(), event).await?;

        let session = service
            .get(GetRequest {
                app_name: "demo".to_string(),
                user_id: "alice".to_string(),
                session_id: session.id().to_string(),
                num_recent_events: None,
                after: None,
            })
            .await?;
        let events = session.events();
        assert_eq!(events.len(), 1);
        assert!(!events.is_empty());
        assert_eq!(events.at(0).map(|event| event.invocation_id.as_str()), Some("inv_001"));
        for event in events.all() {
            println!("Event {} by {} at {}", event.id, event.author, event.timestamp);
        }

        let sessions = service
            .list(ListRequest { app_name: "demo".to_string(), user_id: "alice".to_string() })
            .await?;
        assert_eq!(sessions.len(), 1);
        for session in sessions {
            println!("Session: {} (updated: {})", session.id(), session.last_update_time());
        }

        service
            .delete(DeleteRequest {
                app_name: "demo".to_string(),
                user_id: "alice".to_string(),
                session_id: session.id().to_string(),
            })
            .await?;
        Ok(())
    }

    #[test]
    fn a_session_is_created_read_listed_and_deleted() {
        main().unwrap();
    }
}

mod scopes {
    use adk_session::{
        CreateRequest, GetRequest, InMemorySessionService, KEY_PREFIX_APP, KEY_PREFIX_TEMP,
        KEY_PREFIX_USER, SessionService,
    };
    use serde_json::json;
    use std::collections::HashMap;

    #[tokio::main]
    async fn main() -> anyhow::Result<()> {
        let service = InMemorySessionService::new();

        let mut state1 = HashMap::new();
        state1.insert(format!("{}theme", KEY_PREFIX_APP), json!("dark"));
        state1.insert(format!("{}language", KEY_PREFIX_USER), json!("en"));
        state1.insert(format!("{}current_step", KEY_PREFIX_TEMP), json!(1));
        state1.insert("context".to_string(), json!("session1"));
        service
            .create(CreateRequest {
                app_name: "my_app".to_string(),
                user_id: "alice".to_string(),
                session_id: Some("s1".to_string()),
                state: state1,
            })
            .await?;

        let mut state2 = HashMap::new();
        state2.insert("context".to_string(), json!("session2"));
        let session2 = service
            .create(CreateRequest {
                app_name: "my_app".to_string(),
                user_id: "alice".to_string(),
                session_id: Some("s2".to_string()),
                state: state2,
            })
            .await?;

        let s2_state = session2.state();
        assert_eq!(s2_state.get("app:theme"), Some(json!("dark")));
        assert_eq!(s2_state.get("user:language"), Some(json!("en")));
        assert_eq!(s2_state.get("context"), Some(json!("session2")));

        let session1 = service
            .get(GetRequest {
                app_name: "my_app".to_string(),
                user_id: "alice".to_string(),
                session_id: "s1".to_string(),
                num_recent_events: Some(10),
                after: None,
            })
            .await?;
        let all_state = session1.state().all();
        assert_eq!(all_state.len(), 3);
        for (key, value) in all_state {
            println!("{}: {}", key, value);
        }
        Ok(())
    }

    #[test]
    fn sessions_of_one_user_share_app_and_user_state() {
        main().unwrap();
    }
}

mod deltas {
    use adk_session::{
        CreateRequest, Event, EventActions, GetRequest, InMemorySessionService, SessionService,
    };
    use serde_json::json;
    use std::collections::HashMap;

    #[tokio::main]
    async fn main() -> anyhow::Result<()> {
        let service = InMemorySessionService::new();
        let session = service
            .create(CreateRequest {
                app_name: "my_app".to_string(),
                user_id: "user_123".to_string(),
                session_id: Some("my-custom-id".to_string()),
                state: HashMap::new(),
            })
            .await?;

        let mut state_delta = HashMap::new();
        state_delta.insert("counter".to_string(), json!(42));
        state_delta.insert("user:last_seen".to_string(), json!("2024-01-15"));

        let mut event = Event::new("invocation_123");
        event.actions = EventActions { state_delta, ..Default::default() };
        service.append_event(session.id(), event).await?;

        let session = service
            .get(GetRequest {
                app_name: "my_app".to_string(),
                user_id: "user_123".to_string(),
                session_id: "my-custom-id".to_string(),
                num_recent_events: None,
                after: None,
            })
            .await?;
        let Some(counter) = session.state().get("counter") else { anyhow::bail!("no counter") };
        assert_eq!(counter, json!(42));
        assert_eq!(session.state().get("user:last_seen"), Some(json!("2024-01-15")));
        Ok(())
    }

    #[test]
    fn an_event_changes_the_state_by_its_delta() {
        main().unwrap();
    }
}

mod traits {
    use adk_session::{ReadonlyState, State};
    use serde_json::{Value, json};
    use std::collections::HashMap;

    struct OwnState(HashMap<String, Value>);

    impl State for OwnState {
        fn get(&self, key: &str) -> Option<Value> {
            self.0.get(key).cloned()
        }

        fn set(&mut self, key: String, value: Value) {
            self.0.insert(key, value);
        }

        fn all(&self) -> HashMap<String, Value> {
            self.0.clone()
        }
    }

    struct Fixed;

    impl ReadonlyState for Fixed {
        fn get(&self, key: &str) -> Option<Value> {
            (key == "topic").then(|| json!("tea"))
        }

        fn all(&self) -> HashMap<String, Value> {
            HashMap::from([("topic".to_string(), json!("tea"))])
        }
    }

    #[test]
    fn states_are_implemented_with_the_methods_of_the_document() {
        let mut own = OwnState(HashMap::new());
        let state: &mut dyn State = &mut own;
        state.set("topic".to_string(), json!("cake"));
        assert_eq!(state.get("topic"), Some(json!("cake")));
        assert_eq!(state.all().len(), 1);
        let fixed: &dyn ReadonlyState = &Fixed;
        assert_eq!(fixed.get("topic"), fixed.all().remove("topic"));
    }
}
