//! Properties of agents that write to one state concurrently, in any order of their stored events.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::Ordering;

use adk_session::invocation::{Stamp, WriteOrder};
use adk_session::{Context, Event, Invocation, REMOVED, State};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::invocation::{TestService, fixture, stored};

type Values = BTreeMap<String, Value>;

fn apply(values: &mut Values, key: &str, value: &Value) {
    if value == REMOVED {
        values.remove(key);
    } else {
        values.insert(key.to_owned(), value.clone());
    }
}

fn fold<'d>(deltas: impl IntoIterator<Item = &'d Values>) -> Values {
    let mut state = Values::new();
    for (key, value) in deltas.into_iter().flatten() {
        apply(&mut state, key, value);
    }
    state
}

/// The steps of an append with `WriteOrder` alone, as its documentation describes them.
#[derive(Default)]
struct Handle {
    order: WriteOrder,
    live: Values,
    /// Per context, what no event carries yet.
    open: BTreeMap<String, BTreeMap<String, (Value, Stamp)>>,
    waiting: VecDeque<BTreeMap<String, (Value, Stamp)>>,
    stored: Vec<Values>,
}

impl Handle {
    fn write(&mut self, context: &str, key: &str, value: Value) {
        let stamp = self.order.record(key);
        apply(&mut self.live, key, &value);
        let open = self.open.entry(context.to_owned()).or_default();
        open.insert(key.to_owned(), (value, stamp));
    }

    fn append(&mut self, context: &str) {
        self.waiting.push_back(self.open.remove(context).unwrap_or_default());
    }

    fn append_by_hand(&mut self, delta: Values) {
        let stamp = self.order.now();
        let delta = delta.into_iter().map(|(key, value)| (key, (value, stamp)));
        self.waiting.push_back(delta.collect());
    }

    fn commit(&mut self) {
        let Some(delta) = self.waiting.pop_front() else { return };
        let mut stored = Values::new();
        for (key, (value, stamp)) in &delta {
            if !self.order.is_superseded(key, *stamp) {
                stored.insert(key.clone(), value.clone());
            }
        }
        self.stored.push(stored);
        for (key, (value, stamp)) in &delta {
            if !self.order.is_overtaken(key, *stamp) {
                apply(&mut self.live, key, value);
            }
            self.order.commit(key, *stamp);
        }
    }
}

#[derive(Deserialize)]
struct Vector {
    name: String,
    steps: Vec<VectorStep>,
    live: Values,
    deltas: Vec<Values>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum VectorStep {
    Set { context: String, set: Values },
    Append { append: String },
    ByHand { append: Values },
    Commit { commit: usize },
}

/// The file is meant for `js/values/state/write_order.ts` as well.
#[test]
fn the_vectors_hold() {
    let vectors: Vec<Vector> =
        serde_json::from_str(include_str!("../../vectors/write_order.json")).unwrap();
    assert!(vectors.len() >= 12);
    for Vector { name, steps, live, deltas } in vectors {
        let mut handle = Handle::default();
        for step in steps {
            match step {
                VectorStep::Set { context, set } => {
                    set.into_iter().for_each(|(key, value)| handle.write(&context, &key, value));
                }
                VectorStep::Append { append } => handle.append(&append),
                VectorStep::ByHand { append } => handle.append_by_hand(append),
                VectorStep::Commit { commit } => (0..commit).for_each(|_| handle.commit()),
            }
        }
        assert_eq!(handle.live, live, "{name}");
        assert_eq!(handle.stored, deltas, "{name}");
    }
}

#[derive(Debug, Clone)]
enum Step {
    Write(usize, &'static str),
    Remove(usize, &'static str),
    ByHand(&'static str),
    Append(usize),
    /// The storage refuses it.
    Fail(usize),
    /// The next event that waits is stored; of no use where an append waits for itself.
    Commit,
}

const CONTEXTS: [&str; 3] = ["a", "b", "c"];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let key = || prop::sample::select(vec!["k", "l", "user:m", "app:n", "temp:o"]);
    let context = || 0..CONTEXTS.len();
    let step = prop_oneof![
        4 => (context(), key()).prop_map(|(context, key)| Step::Write(context, key)),
        2 => (context(), key()).prop_map(|(context, key)| Step::Remove(context, key)),
        1 => key().prop_map(Step::ByHand),
        3 => context().prop_map(Step::Append),
        1 => context().prop_map(Step::Fail),
        3 => Just(Step::Commit),
    ];
    prop::collection::vec(step, 0..40)
}

/// The writes by number, and which of them is the last of its key.
#[derive(Default)]
struct Model {
    values: Vec<Value>,
    last: BTreeMap<String, usize>,
    last_stored: BTreeMap<String, usize>,
}

impl Model {
    /// A value that no other write has, or a removal.
    fn number(&mut self, is_removal: bool) -> (usize, Value) {
        let number = self.values.len();
        let value = if is_removal { REMOVED.into() } else { number.into() };
        self.values.push(value);
        (number, self.values[number].clone())
    }

    fn stored(&mut self, writes: impl IntoIterator<Item = (String, usize)>) {
        for (key, number) in writes {
            let last = self.last_stored.entry(key).or_insert(number);
            *last = number.max(*last);
        }
    }

    fn state(&self, last: &BTreeMap<String, usize>) -> Values {
        let mut state = Values::new();
        last.iter().for_each(|(key, number)| apply(&mut state, key, &self.values[*number]));
        state
    }
}

fn without_temp(mut values: Values) -> Values {
    values.retain(|key, _| !key.starts_with("temp:"));
    values
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

proptest! {
    #![proptest_config(config(2_000))]

    #[test]
    fn the_last_write_wins_in_any_interleaving(steps in steps()) {
        let mut handle = Handle::default();
        let mut model = Model::default();
        let mut open: BTreeMap<usize, BTreeMap<String, usize>> = BTreeMap::new();
        let mut waiting: VecDeque<BTreeMap<String, usize>> = VecDeque::new();
        let commits = std::iter::repeat_n(Step::Commit, 40);
        for step in steps.into_iter().chain(commits) {
            match step {
                Step::Write(context, key) | Step::Remove(context, key) => {
                    let (number, value) = model.number(matches!(step, Step::Remove(..)));
                    handle.write(CONTEXTS[context], key, value);
                    open.entry(context).or_default().insert(key.to_owned(), number);
                    model.last.insert(key.to_owned(), number);
                }
                Step::ByHand(key) => {
                    let (number, value) = model.number(false);
                    handle.append_by_hand([(key.to_owned(), value)].into());
                    waiting.push_back([(key.to_owned(), number)].into());
                    model.last.insert(key.to_owned(), number);
                }
                Step::Append(context) => {
                    handle.append(CONTEXTS[context]);
                    waiting.push_back(open.remove(&context).unwrap_or_default());
                }
                Step::Commit => {
                    handle.commit();
                    model.stored(waiting.pop_front().unwrap_or_default());
                }
                Step::Fail(_) => {}
            }
        }
        prop_assert_eq!(&handle.live, &model.state(&model.last));
        prop_assert_eq!(fold(&handle.stored), model.state(&model.last_stored));
    }
}

async fn pause(yields: u8) {
    for _ in 0..yields {
        tokio::task::yield_now().await;
    }
}

/// The stored state, and the fold of the stored deltas.
async fn stored_values(service: &TestService) -> (Values, Values) {
    let session = stored(service).await;
    let delta = |event: &Event| Values::from_iter(event.actions.state_delta.clone());
    let deltas: Vec<Values> = session.events().iter().map(delta).collect();
    (session.state().all().into_iter().collect(), fold(&deltas))
}

fn all(context: &Context) -> Values {
    context.all().into_iter().collect()
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn an_invocation_keeps_the_last_write_and_stores_the_last_appended(steps in steps()) {
        block_on(async {
            let (service, session) = fixture(json!({})).await;
            let invocation = Invocation::new(&session);
            let mut contexts = CONTEXTS.map(|name| invocation.context(name));
            let mut model = Model::default();
            let mut open = [const { BTreeMap::<String, usize>::new() }; 3];
            for step in steps {
                match step {
                    Step::Write(at, key) | Step::Remove(at, key) => {
                        let (number, value) = model.number(matches!(step, Step::Remove(..)));
                        contexts[at].set(key.to_owned(), value);
                        open[at].insert(key.to_owned(), number);
                        model.last.insert(key.to_owned(), number);
                    }
                    Step::ByHand(key) => {
                        let (number, value) = model.number(false);
                        let mut event = Event::new("");
                        event.actions.state_delta.insert(key.to_owned(), value);
                        invocation.append(&service, event, None, None).await.unwrap();
                        model.last.insert(key.to_owned(), number);
                        model.stored([(key.to_owned(), number)]);
                    }
                    Step::Append(at) => {
                        let context = Some(&mut contexts[at]);
                        invocation.append(&service, Event::new(""), context, None).await.unwrap();
                        model.stored(std::mem::take(&mut open[at]));
                    }
                    Step::Fail(at) => {
                        service.fail_next.store(true, Ordering::Relaxed);
                        let context = Some(&mut contexts[at]);
                        let failed = invocation.append(&service, Event::new(""), context, None);
                        prop_assert!(failed.await.is_err());
                    }
                    Step::Commit => {}
                }
                let expected = model.state(&model.last);
                for context in &contexts {
                    prop_assert_eq!(&all(context), &expected);
                }
            }
            let (state, folded) = stored_values(&service).await;
            prop_assert_eq!(&state, &without_temp(model.state(&model.last_stored)));
            prop_assert_eq!(&state, &folded);
            invocation.end();
            prop_assert_eq!(all(&contexts[0]), without_temp(model.state(&model.last)));
            Ok(())
        })?;
    }

    /// Each agent pauses, writes and appends on its own; the storage takes its time, too.
    #[test]
    fn concurrent_agents_leave_the_last_write(
        agents in prop::array::uniform3(prop::collection::vec((0u8..4, steps(), 0u8..4), 0..6)),
        yields in prop::collection::vec(0u16..4, 0..20),
    ) {
        block_on(async {
            let (service, session) = fixture(json!({})).await;
            *service.yields.lock().unwrap() = yields;
            let invocation = Invocation::new(&session);
            let model = RefCell::new(Model::default());
            let run = async |name: &str, rounds: &[(u8, Vec<Step>, u8)]| {
                let mut context = invocation.context(name);
                for (before, steps, between) in rounds {
                    pause(*before).await;
                    for step in steps {
                        if let Step::Write(_, key) | Step::Remove(_, key) = step {
                            let mut model = model.borrow_mut();
                            let removes = matches!(step, Step::Remove(..));
                            let (number, value) = model.number(removes);
                            context.set((*key).to_owned(), value);
                            model.last.insert((*key).to_owned(), number);
                        }
                    }
                    pause(*between).await;
                    let context = Some(&mut context);
                    invocation.append(&service, Event::new(""), context, None).await.unwrap();
                }
            };
            let [a, b, c] = &agents;
            tokio::join!(run("a", a), run("b", b), run("c", c));
            let model = model.into_inner();
            let expected = model.state(&model.last);
            prop_assert_eq!(all(&invocation.context("d")), expected.clone());
            let (state, folded) = stored_values(&service).await;
            prop_assert_eq!(&state, &without_temp(expected));
            prop_assert_eq!(&state, &folded);
            Ok(())
        })?;
    }
}
