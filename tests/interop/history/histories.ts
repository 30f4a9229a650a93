/** The histories of tests/vectors/history.json: each is a list of events, and the agents that read it. */
import type { Event } from '../../../js/index.js';

/** What an agent reads a history as. */
export interface ReaderContext {
  readonly agentName: string;
  readonly branch?: string;
  readonly isolationScope?: string;
}

export interface History {
  readonly name: string;
  readonly events: readonly Event[];
  readonly contexts: readonly ReaderContext[];
}

const START = 1_795_219_000_000;
const ROOT: ReaderContext = { agentName: 'root' };

/** The time of an event or the end of a range, in seconds after the start. */
export const time = (seconds: number): number => START + seconds * 1000;

type Members = Partial<Omit<Event, 'actions'>> & Readonly<Record<string, unknown>>;

export function event(invocationId: string, id: string, seconds: number, members: Members): Event {
  const { actions, ...rest } = members;
  return {
    id,
    invocationId,
    author: 'root',
    timestamp: time(seconds),
    ...rest,
    actions: {
      stateDelta: {},
      artifactDelta: {},
      requestedAuthConfigs: {},
      requestedToolConfirmations: {},
      ...(actions as object | undefined),
    },
  };
}

export const text = (role: string, value: string) => ({ role, parts: [{ text: value }] });

/** A message of the user, `inv-u`, with its id as text. */
const user = (inv: string, at: number, id = `${inv}-u`, members: Members = {}): Event =>
  event(inv, id, at, { author: 'user', content: text('user', id), ...members });

/** An answer of the agent, `inv-a`, with its id as text. */
const answer = (inv: string, at: number, id = `${inv}-a`, members: Members = {}): Event =>
  event(inv, id, at, { content: text('model', id), ...members });

/** A turn: a message and its answer, at `at` and half a second later. */
const turn = (inv: string, at: number): Event[] => [user(inv, at), answer(inv, at + 0.5)];

/** A call of a tool by the agent. */
const call = (inv: string, at: number, ids: readonly string[], members: Members = {}): Event =>
  event(inv, `${inv}-call-${ids.join('-')}`, at, {
    content: {
      role: 'model',
      parts: ids.map((id) => ({ functionCall: { id, name: 'ask', args: {} } })),
    },
    ...members,
  });

const response = (
  inv: string,
  at: number,
  callId: string,
  id: string,
  members: Members = {},
): Event =>
  event(inv, id, at, {
    content: {
      role: 'user',
      parts: [{ functionResponse: { id: callId, name: 'ask', response: { value: id } } }],
    },
    ...members,
  });

/** Python's marker of a rewind; it has an invocation of its own. */
const rewind = (inv: string, at: number, before: string): Event =>
  event(inv, `${inv}-rewind`, at, {
    author: 'user',
    actions: { rewindBeforeInvocationId: before },
  });

/** A compaction of Python. */
const compaction = (
  id: string,
  at: number,
  from: number,
  to: number,
  members: Members = {},
): Event =>
  event(`inv-${id}`, id, at, {
    author: 'user',
    actions: {
      compaction: {
        startTimestamp: time(from),
        endTimestamp: time(to),
        compactedContent: text('model', `summary ${id}`),
      },
    },
    ...members,
  });

/** A compacted event of `@google/adk`. */
const compacted = (id: string, at: number, from: number, to: number): Event =>
  event('', id, at, {
    author: 'system',
    content: text('model', `summary ${id}`),
    isCompacted: true,
    startTime: time(from),
    endTime: time(to),
    compactedContent: `summary ${id}`,
  });

const history = (
  name: string,
  events: readonly (Event | readonly Event[])[],
  contexts: readonly ReaderContext[] = [ROOT],
): History => ({ name, events: events.flat(), contexts });

const scoped = (isolationScope: string): Members => ({ isolationScope });
const branched = (branch: string): Members => ({ branch });

export const HISTORIES: readonly History[] = [
  history('no_marks', [turn('i1', 1), turn('i2', 2)]),
  history('empty', []),
  history('plain_rewind', [
    turn('i1', 1),
    turn('i2', 2),
    turn('i3', 3),
    rewind('r1', 4, 'i2'),
    turn('i4', 5),
  ]),
  history('rewind_before_the_first_turn', [turn('i1', 1), rewind('r1', 2, 'i1'), turn('i2', 3)]),
  history('nested_rewinds', [
    turn('i1', 1),
    turn('i2', 2),
    turn('i3', 3),
    rewind('r1', 4, 'i3'),
    turn('i4', 5),
    rewind('r2', 6, 'i2'),
    turn('i5', 7),
  ]),
  history('marker_targets_marker', [
    turn('i1', 1),
    turn('i2', 2),
    rewind('r1', 3, 'i2'),
    turn('i3', 4),
    rewind('r2', 5, 'r1'),
    turn('i4', 6),
  ]),
  // A is i2, B is i3, C is i4. A marker that targets the marker that ended a branch brings that branch back.
  history('switch_three_branches_and_back', [
    turn('i1', 1),
    turn('i2', 2),
    rewind('r1', 3, 'i2'),
    turn('i3', 4),
    rewind('r2', 5, 'i3'),
    turn('i4', 6),
    rewind('r3', 7, 'r1'),
    rewind('r4', 8, 'r1'),
    turn('i5', 9),
    rewind('r5', 10, 'r2'),
    rewind('r6', 11, 'r3'),
  ]),
  history('rewind_resurrects_rewound', [
    turn('i1', 1),
    turn('i2', 2),
    turn('i3', 3),
    rewind('r1', 4, 'i2'),
    turn('i4', 5),
    rewind('r2', 6, 'i3'),
    turn('i5', 7),
  ]),
  history('target_missing_self_later', [
    turn('i1', 1),
    rewind('r1', 2, 'missing'),
    turn('i2', 3),
    rewind('r2', 4, 'r2'),
    turn('i3', 5),
    rewind('r3', 6, 'i4'),
    turn('i4', 7),
  ]),
  history('late_event_of_earlier_invocation', [
    turn('i1', 1),
    turn('i2', 2),
    answer('i1', 3, 'i1-late'),
    rewind('r1', 4, 'i2'),
    turn('i3', 5),
  ]),
  history('late_answer_of_undone_run', [
    turn('i1', 1),
    user('i2', 2),
    rewind('r1', 3, 'i2'),
    answer('i2', 4, 'i2-late'),
    turn('i3', 5),
  ]),
  history('response_to_undone_call', [
    turn('i1', 1),
    user('i2', 2),
    call('i2', 3, ['c1']),
    rewind('r1', 4, 'i2'),
    user('i3', 5),
    response('i3', 6, 'c1', 'i3-r', { author: 'user' }),
  ]),
  history('rewind_with_equal_invocations_before', [
    turn('i1', 1),
    user('i2', 2),
    user('i1', 3, 'i1-again'),
    rewind('r1', 4, 'i1'),
    turn('i3', 5),
  ]),
  history('summary', [turn('i1', 1), turn('i2', 2), compaction('s1', 3, 1, 2.5), turn('i3', 4)]),
  history('overlapping_summaries_between_survivors', [
    user('i1', 1),
    user('i2', 2),
    answer('i2', 2.5),
    user('i3', 3),
    answer('i4', 4),
    compaction('s1', 5, 2, 3),
    compaction('s2', 6, 2.5, 4),
    turn('i5', 7),
  ]),
  history('contained_and_identical_ranges', [
    turn('i1', 1),
    turn('i2', 2),
    turn('i3', 3),
    compaction('s1', 4, 1, 1.5),
    compaction('s2', 5, 1, 2.5),
    compaction('s3', 6, 1, 2.5),
    compaction('s4', 7, 2, 2.5),
    turn('i4', 8),
  ]),
  history('two_summaries_with_a_survivor_between', [
    turn('i1', 1),
    turn('i2', 2),
    turn('i3', 3),
    compaction('s1', 4, 1, 1.5),
    compaction('s2', 5, 3, 3.5),
    turn('i4', 6),
  ]),
  history('rewind_before_summary_revives', [
    turn('i1', 1),
    turn('i2', 2),
    compaction('s1', 3, 1, 1.5),
    turn('i3', 4),
    rewind('r1', 5, 'inv-s1'),
    turn('i4', 6),
  ]),
  history('rewind_into_summarised_turns', [
    turn('i1', 1),
    turn('i2', 2),
    compaction('s1', 3, 1, 2.5),
    turn('i3', 4),
    rewind('r1', 5, 'i2'),
    turn('i4', 6),
  ]),
  history('summary_of_undone_turns_remains', [
    turn('i1', 1),
    turn('i2', 2),
    rewind('r1', 3, 'i2'),
    compaction('s1', 4, 1, 2.5),
    turn('i3', 5),
  ]),
  history('summary_that_hides_nothing', [
    turn('i1', 1),
    turn('i2', 2),
    compaction('s1', 3, 2, 1.7),
    turn('i3', 4),
  ]),
  history('summary_of_messages_only', [
    user('i1', 1),
    user('i2', 2),
    compaction('s1', 3, 1, 2),
    turn('i3', 4),
  ]),
  history('late_event_in_a_summarised_range', [
    turn('i1', 1),
    turn('i2', 2),
    compaction('s1', 3, 1, 2.5),
    answer('i2', 2.2, 'i2-late'),
    turn('i3', 4),
  ]),
  history(
    'scoped_summary_beside_unscoped',
    [
      user('i1', 1),
      call('i1', 1.1, ['task']),
      answer('i1', 1.2, 'i1-task', { author: 'helper', ...scoped('task') }),
      answer('i1', 1.3, 'i1-task2', { author: 'helper', ...scoped('task') }),
      response('i1', 1.4, 'task', 'i1-done'),
      answer('i1', 1.5),
      compaction('s1', 2, 1.2, 1.2, scoped('task')),
      compaction('s2', 3, 1, 1.5),
      turn('i2', 4),
    ],
    [
      ROOT,
      { agentName: 'helper', isolationScope: 'task' },
      { agentName: 'other', isolationScope: 'none' },
    ],
  ),
  history(
    'summary_of_a_branch',
    [
      user('i1', 1),
      answer('i1', 1.2, 'i1-left', { author: 'left', ...branched('root.left') }),
      answer('i1', 1.3, 'i1-right', { author: 'right', ...branched('root.right') }),
      compaction('s1', 2, 1, 1.2, branched('root.left')),
      turn('i2', 3),
    ],
    [
      ROOT,
      { agentName: 'left', branch: 'root.left' },
      { agentName: 'right', branch: 'root.right' },
      { agentName: 'leaf', branch: 'root.left.leaf' },
    ],
  ),
  history('long_running_answer_after_compaction', [
    user('i1', 1),
    call('i1', 1.1, ['c1', 'c2'], { longRunningToolIds: ['c1'] }),
    response('i1', 1.2, 'c2', 'i1-r2'),
    answer('i1', 1.3),
    turn('i2', 2),
    compaction('s1', 3, 1, 2.5),
    response('i1', 4, 'c1', 'i1-r1', { author: 'user' }),
  ]),
  history('answer_turns_after_the_compaction_of_its_call', [
    user('i1', 1),
    call('i1', 1.1, ['c1'], { longRunningToolIds: ['c1'] }),
    compaction('s1', 2, 1, 1.1),
    turn('i2', 3),
    response('i1', 4, 'c1', 'i1-r', { author: 'user' }),
  ]),
  history('call_without_response', [
    turn('i1', 1),
    user('i2', 2),
    call('i2', 2.1, ['c1']),
    turn('i3', 3),
  ]),
  history('parallel_calls_with_one_response', [
    user('i1', 1),
    call('i1', 1.1, ['c1', 'c2']),
    response('i1', 1.2, 'c2', 'i1-r2'),
    turn('i2', 2),
  ]),
  history('long_running_call_with_two_responses', [
    user('i1', 1),
    call('i1', 1.1, ['c1'], { longRunningToolIds: ['c1'] }),
    response('i1', 1.2, 'c1', 'i1-pending'),
    answer('i1', 1.3),
    turn('i2', 2),
    response('i1', 3, 'c1', 'i1-done', { author: 'user' }),
    answer('i1', 3.5, 'i1-b'),
  ]),
  // An agent of the scope has no response to the call, so it reads the reply between them.
  history(
    'replies_between_two_responses',
    [
      user('i1', 1),
      call('i1', 1.1, ['c1'], { longRunningToolIds: ['c1'] }),
      response('i1', 1.2, 'c1', 'i1-pending'),
      answer('i1', 1.3, 'i1-wait'),
      answer('i1', 1.4, 'i1-task', { author: 'helper', ...scoped('task') }),
      response('i1', 1.5, 'c1', 'i1-done'),
      answer('i1', 1.6),
      turn('i2', 2),
    ],
    [ROOT, { agentName: 'helper', isolationScope: 'task' }],
  ),
  history('call_id_of_two_calls', [
    user('i1', 1),
    call('i1', 1.1, ['c1']),
    response('i1', 1.2, 'c1', 'i1-r'),
    answer('i1', 1.3),
    user('i2', 2),
    event('i2', 'i2-call', 2.1, {
      content: { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'ask', args: {} } }] },
    }),
    response('i2', 2.2, 'c1', 'i2-r'),
    answer('i2', 2.3),
  ]),
  history('reused_call_id_after_compaction', [
    user('i1', 1),
    call('i1', 1.1, ['c1']),
    response('i1', 1.2, 'c1', 'i1-r'),
    compaction('s1', 2, 1, 1.2),
    user('i2', 3),
    call('i2', 3.1, ['c1']),
    response('i2', 3.2, 'c1', 'i2-r'),
    answer('i2', 3.3),
  ]),
  history('events_without_content', [
    turn('i1', 1),
    event('i1', 'i1-state', 1.7, { actions: { stateDelta: { k: 1 } } }),
    turn('i2', 2),
    compaction('s1', 3, 1, 2.5),
    turn('i3', 4),
    event('i3', 'i3-state', 4.7, { actions: { stateDelta: { k: 2 } } }),
  ]),
  history(
    'several_agents',
    [
      user('i1', 1),
      answer('i1', 1.2, 'i1-helper', { author: 'helper' }),
      answer('i1', 1.3),
      turn('i2', 2),
      compaction('s1', 3, 1, 1.3),
      turn('i3', 4),
    ],
    [ROOT, { agentName: 'helper' }],
  ),
  history('events_that_no_model_sees', [
    user('i1', 1),
    answer('i1', 1.1, 'i1-empty', { content: { role: 'model', parts: [{ text: '' }] } }),
    answer('i1', 1.2, 'i1-thought', {
      content: { role: 'model', parts: [{ text: 'hm', thought: true }] },
    }),
    answer('i1', 1.3, 'i1-no-role', { content: { parts: [{ text: 'x' }] } }),
    event('i1', 'i1-confirm', 1.4, {
      content: {
        role: 'model',
        parts: [{ functionCall: { id: 'q1', name: 'adk_request_confirmation', args: {} } }],
      },
    }),
    event('i1', 'i1-auth', 1.5, {
      content: {
        role: 'model',
        parts: [{ functionCall: { id: 'q2', name: 'adk_request_credential', args: {} } }],
      },
    }),
    user('i1', 1.6, 'i1-node', { nodeInfo: { path: 'flow.node' } }),
    answer('i1', 1.7, 'i1-tool', { author: 'tool', ...branched('ask@c9') }),
    call('i1', 1.8, ['c9']),
    response('i1', 1.9, 'c9', 'i1-r9'),
    turn('i2', 2),
  ]),
  history('js_summary', [turn('i1', 1), turn('i2', 2), compacted('j1', 3, 1, 1.5), turn('i3', 4)]),
  history('rolling_js_summaries', [
    turn('i1', 1),
    compacted('j1', 2, 1, 1.5),
    turn('i2', 3),
    compacted('j2', 4, 2, 3.5),
    turn('i3', 5),
  ]),
  history('js_summary_undone', [
    turn('i1', 1),
    turn('i2', 2),
    compacted('j1', 3, 1, 1.5),
    rewind('r1', 4, 'i2'),
    turn('i3', 5),
  ]),
  history('python_then_js_summary', [
    turn('i1', 1),
    turn('i2', 2),
    compaction('s1', 3, 1, 1.5),
    turn('i3', 4),
    compacted('j1', 5, 1, 2.5),
    turn('i4', 6),
  ]),
  history('python_then_js_summary_same_millisecond', [
    turn('i1', 1),
    turn('i2', 2),
    compaction('s1', 3, 1, 2.5),
    compacted('j1', 4, 1, 2.5),
    turn('i3', 5),
  ]),
  history('js_then_python_summary', [
    turn('i1', 1),
    turn('i2', 2),
    compacted('j1', 3, 1, 1.5),
    turn('i3', 4),
    compaction('s1', 5, 2, 4),
    turn('i4', 6),
  ]),
];
