//! Does with the crate what a Rust program does with it, and prints what came of it.
//! `../rust_consumer.test.ts` runs it.

use std::collections::HashMap;

use adk_session::{
    CreateRequest, DeleteRequest, Error, Event, EventActions, GetRequest, InMemorySessionService,
    Invocation, KEY_PREFIX_APP, KEY_PREFIX_TEMP, KEY_PREFIX_USER, ListRequest, ReadonlyState,
    Session, SessionService, State, Timestamp, inject_session_state,
};
use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let service = InMemorySessionService::new();
    sessions(&service).await?;
    errors(&service).await?;
    invocation(&service).await?;
    threads();
    Ok(())
}

fn get_request(user_id: &str, session_id: &str) -> GetRequest {
    GetRequest {
        app_name: "shop".to_string(),
        user_id: user_id.to_string(),
        session_id: session_id.to_string(),
        num_recent_events: None,
        after: None,
    }
}

async fn sessions(service: &impl SessionService) -> anyhow::Result<()> {
    let mut state = HashMap::new();
    state.insert(format!("{KEY_PREFIX_APP}currency"), json!("KRW"));
    state.insert(format!("{KEY_PREFIX_USER}name"), json!("Ada"));
    state.insert(format!("{KEY_PREFIX_TEMP}draft"), json!(true));
    state.insert("cart".to_string(), json!(["tea"]));
    let session = service
        .create(CreateRequest {
            app_name: "shop".to_string(),
            user_id: "ada".to_string(),
            state,
            ..Default::default()
        })
        .await?;
    println!(
        "created with an id of {} characters: {}",
        session.id().len(),
        sorted(session.state())
    );

    for (number, topic) in ["coffee", "tea", "milk"].into_iter().enumerate() {
        let mut event = Event::new("invocation-1");
        event.author = "user".to_string();
        event.timestamp = Timestamp::from_millis(1_000.0 * number as f64)?;
        event.actions = EventActions {
            state_delta: HashMap::from([("topic".to_string(), json!(topic))]),
            ..Default::default()
        };
        service.append_event(session.id(), event).await?;
    }
    let session = service.get(get_request("ada", session.id())).await?;
    println!("topic {:?}, no {:?}", session.state().get("topic"), session.state().get("missing"));

    let last = GetRequest { num_recent_events: Some(1), ..get_request("ada", session.id()) };
    let after = GetRequest { after: Some(Timestamp::from_millis(1_000.0)?), ..get_request("ada", session.id()) };
    let counts = (
        session.events().len(),
        service.get(last).await?.events().len(),
        service.get(after).await?.events().len(),
    );
    println!("events: {counts:?}");
    println!("{}", inject_session_state("{user:name}: {topic}, {cart}{no?}", &session).await?);

    let list = ListRequest { app_name: "shop".to_string(), user_id: "ada".to_string() };
    println!("listed: {}", service.list(list.clone()).await?.len());
    let delete = DeleteRequest {
        app_name: "shop".to_string(),
        user_id: "ada".to_string(),
        session_id: session.id().to_string(),
    };
    service.delete(delete).await?;
    println!("left after the deletion: {}", service.list(list).await?.len());
    Ok(())
}

async fn errors(service: &impl SessionService) -> anyhow::Result<()> {
    let create = |user: &str| CreateRequest {
        app_name: "shop".to_string(),
        user_id: user.to_string(),
        session_id: Some("latest".to_string()),
        ..Default::default()
    };
    let of_ada = service.create(create("ada")).await.context("the first has the id to itself")?;
    service.create(create("grace")).await?;
    let refused = [
        service.append_event("latest", Event::new("i")).await,
        service.append_event("gone", Event::new("i")).await,
        service.create(create("ada")).await.map(drop),
        service.create(create("")).await.map(drop),
        service.get(get_request("ada", "gone")).await.map(drop),
    ];
    for result in refused {
        let Err(error) = result else { bail!("it should have been refused") };
        println!("{}: {error}", error.code());
    }
    service.append_event_to(of_ada.key(), Event::new("i")).await?;

    let result = inject_session_state("{user:nmae}", &of_ada).await.map_err(Error::from);
    let error = anyhow::Error::from(result.unwrap_err());
    ensure!(error.downcast_ref::<Error>().is_some_and(|error| error.code() == "missing_variable"));
    println!("{error}");
    Ok(())
}

async fn invocation(service: &impl SessionService) -> anyhow::Result<()> {
    let session = service.get(get_request("grace", "latest")).await?;
    let invocation = Invocation::new(&session).with_id("invocation-2");
    let mut guide = invocation.context("guide");
    let reader = invocation.readonly_context("reader");
    write_to(&mut guide, "temp:step", json!(1));
    write_to(&mut guide, "topic", json!("rivers"));
    println!("read at once: {}", read_from(&reader, "topic"));
    let instruction = inject_session_state("Step {temp:step}: {topic}.", &reader).await?;
    let mut answer = Event::new(invocation.id());
    answer.content = Some(json!({"role": "model", "parts": [{"text": instruction}]}));
    let answer = invocation.append(service, answer, Some(&mut guide), Some("answer")).await?;
    println!("{} said: {}", answer.author, json!(answer.content));
    invocation.end();
    let session: Session = service.get(get_request("grace", "latest")).await?;
    println!("stored: {}", sorted(session.state()));
    Ok(())
}

fn write_to(state: &mut dyn State, key: &str, value: Value) {
    state.set(key.to_string(), value);
}

fn read_from(state: &dyn ReadonlyState, key: &str) -> Value {
    state.get(key).unwrap_or_default()
}

fn sorted(state: &dyn State) -> Value {
    let mut all: Vec<_> = state.all().into_iter().collect();
    all.sort_by(|one, other| one.0.cmp(&other.0));
    Value::Object(all.into_iter().collect())
}

fn threads() {
    fn crosses<T: Send + Sync + ?Sized>() {}
    fn is_error<T: std::error::Error + Send + Sync + 'static>() {}
    crosses::<dyn State>();
    crosses::<dyn ReadonlyState>();
    is_error::<Error>();
    println!("states and errors cross threads");
}
