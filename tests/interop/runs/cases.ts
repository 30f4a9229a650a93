// Messages and what the models answer, with all that differs on purpose.

import type { Difference, Json, Outcome, RunCase } from './two_servers.js';
import type { Replies, Step } from './scripted_agents.js';

const says = (text: string): Step => ({ content: { role: 'model', parts: [{ text }] } });
const partial = (text: string, thought = false): Step => ({
  content: { role: 'model', parts: [{ text, ...(thought && { thought }) }] },
  partial: true,
});
const calls = (...functionCalls: { name: string; args: Json }[]): Step => ({
  content: { role: 'model', parts: functionCalls.map((functionCall) => ({ functionCall })) },
});
const call = (name: string, n: number) => ({ name, args: { n } });

interface Content {
  role: string;
  parts: Json[];
}

/** Changes the events of the runs and of the session in the same way. */
const inEvents =
  (change: (events: readonly Json[]) => Json[]): Difference['ours'] =>
  ({ runs, stored, state }) => ({
    runs: runs.map(({ status, events }) => ({ status, events: change(events) })),
    stored: change(stored),
    state,
  });

const nameOfPart = ({ content }: Json): unknown => {
  const [part] = (content as Content | undefined)?.parts ?? [];
  return (
    (part?.functionCall as Json | undefined)?.name ??
    (part?.functionResponse as Json | undefined)?.name
  );
};
const isResponse = ({ content }: Json): boolean =>
  (content as Content | undefined)?.parts[0]?.functionResponse !== undefined;

/** `@google/adk` stores the question in place of a response that says that the tool waits. */
const ONE_QUESTION: Difference = {
  what: 'the question has the place, the role and the actions of the response that Python also stores',
  ours: inEvents((events) => {
    const waiting = events.find(
      (event) => isResponse(event) && actionsOf(event).skipSummarization === true,
    );
    return events
      .filter((event) => event !== waiting)
      .map((event) => {
        if (nameOfPart(event) !== 'adk_request_confirmation' || isResponse(event)) return event;
        const content = { ...(event.content as Content), role: 'user' };
        return { ...event, content, actions: actionsOf(waiting!) };
      });
  }),
};

const actionsOf = ({ actions }: Json): Json => actions as Json;

/** What Python sends and stores as an event, and sends as an error of the stream too. */
const isExceptionEvent = ({ errorCode }: Json): boolean => errorCode === 'RuntimeError';
const isStreamError = ({ error }: Json): boolean => error !== undefined;

/** Python's `/run` has status 500 after an exception, and shows no events. */
const withStatus200 = ({ runs, ...rest }: Outcome, events: readonly Json[]): Outcome => ({
  runs: runs.map(() => ({ status: 200, events })),
  ...rest,
});

const MODEL_EXCEPTION: Difference = {
  what: 'an exception of a model is an event with the code UNKNOWN_ERROR, and the run ends well',
  ours: (theirs) => {
    const named = inEvents((events) =>
      events
        .filter((event) => !isStreamError(event))
        .map((event) =>
          isExceptionEvent(event) ? { ...event, errorCode: 'UNKNOWN_ERROR' } : event,
        ),
    )(theirs, '/run');
    return withStatus200(named, named.stored.slice(1));
  },
};

const TOOL_EXCEPTION: Difference = {
  what: 'an exception of a tool is its response, and the model goes on',
  ours: (theirs) => {
    const [message, called] = theirs.stored;
    const response = { error: "Error in tool 'lose': no tea left" };
    const functionResponse = { id: 'call 0', name: 'lose', response };
    const answer = {
      author: 'guide',
      actions: {},
      content: { role: 'user', parts: [{ functionResponse }] },
    };
    const last = {
      author: 'guide',
      actions: {},
      content: { role: 'model', parts: [{ text: 'lost' }] },
    };
    const stored = [message!, called!, answer, last];
    return withStatus200({ ...theirs, stored }, stored.slice(1));
  },
};

/** What our server stores in place of an exception's class and text. */
const PUBLIC_FAILURE = {
  errorCode: 'RUN_FAILED',
  errorMessage: 'The agent failed.',
  customMetadata: { adk_session_wasm_error: { code: 'run_failed' } },
};

const CALLBACK_EXCEPTION: Difference = {
  what: 'the exception of a callback is stored without its class and its text, and clients get neither',
  ours: ({ runs, stored, state }, mode) => ({
    runs: runs.map(({ status }) => ({
      status,
      events:
        mode === '/run'
          ? []
          : [
              {
                error: 'run_failed: The agent failed.',
                error_details: { error_type: 'run_failed', error_message: 'The agent failed.' },
              },
            ],
    })),
    stored: stored.map((event) =>
      isExceptionEvent(event) ? { ...event, ...PUBLIC_FAILURE } : event,
    ),
    state,
  }),
};

const INTERRUPTED: Difference = {
  what: 'the text that was streamed before a cancel is stored as an interrupted answer',
  ours: ({ stored: [message, ...endEvents], ...rest }) => {
    const content = { role: 'model', parts: [{ text: 'o' }] };
    return {
      ...rest,
      stored: [
        message!,
        { author: 'guide', interrupted: true, content, actions: {} },
        ...endEvents,
      ],
    };
  },
};

const TRANSFER: Difference = {
  what: 'the tool takes agentName, and returns a sentence',
  ours: inEvents((events) =>
    events.map((event) => {
      if (nameOfPart(event) !== 'transfer_to_agent' || !isResponse(event)) return event;
      const { role, parts } = event.content as Content;
      const functionResponse = {
        ...(parts[0]!.functionResponse as Json),
        response: { result: 'Transfer queued' },
      };
      return { ...event, content: { role, parts: [{ functionResponse }] } };
    }),
  ),
};

const STREAMED: Replies = [[partial('o'), partial('ne'), says('one')]];

export const GATE: readonly RunCase[] = [
  { what: 'a streamed text', replies: STREAMED },
  {
    what: 'parallel calls, with deltas of the message and of the tools',
    replies: [[calls(call('buy', 1), call('buy', 2))], [says('both')]],
    body: { stateDelta: { topic: 'tea', gone: null } },
  },
  {
    what: 'a confirmation that is given',
    replies: [[calls(call('pay', 1))], [says('paid')]],
    answer: { confirmed: true },
    differences: [ONE_QUESTION],
  },
  {
    what: 'an exception of a callback',
    replies: [],
    body: { stateDelta: { lost: true } },
    differences: [CALLBACK_EXCEPTION],
  },
];

/** A conversation whose answers are streamed and whose tool asks for a confirmation. */
export const CONVERSATION: RunCase = {
  what: 'a conversation',
  replies: [
    [
      partial('Shall I'),
      {
        content: { role: 'model', parts: [{ text: 'Shall I?' }, { functionCall: call('pay', 1) }] },
      },
    ],
    [partial('pa'), partial('id'), says('paid')],
  ],
  answer: { confirmed: true },
  differences: [ONE_QUESTION],
};

/** A client that leaves in a streamed answer. */
export const GATE_LEFT: RunCase = {
  what: 'a streamed answer',
  replies: [[partial('o'), { wait: 0.9 }, says('one')]],
  differences: [INTERRUPTED],
};

export const REST: readonly RunCase[] = [
  { what: 'a text', replies: [[says('one')]] },
  {
    what: 'a thought',
    replies: [
      [
        partial('hm', true),
        partial('one'),
        { content: { role: 'model', parts: [{ text: 'hm', thought: true }, { text: 'one' }] } },
      ],
    ],
  },
  {
    what: 'a text before a call, and streamed texts around it',
    replies: [
      [
        partial('Let me'),
        {
          content: { role: 'model', parts: [{ text: 'Let me' }, { functionCall: call('buy', 1) }] },
        },
      ],
      [partial('do'), says('done')],
    ],
  },
  {
    what: 'deltas of the session, the user and the app',
    replies: [[says('one')]],
    body: {
      stateDelta: {
        list: [{ a_b: 1, cD: null }],
        'user:name': 'Ada',
        'app:currency': 'KRW',
        'temp:t': 1,
      },
    },
  },
  {
    what: 'members in snake_case',
    replies: [[says('one')]],
    body: { state_delta: { my_key: 1 }, function_call_event_id: 'e1' },
  },
  {
    what: 'a confirmation that is refused',
    replies: [[calls(call('pay', 1))], [says('not paid')]],
    answer: { confirmed: false },
    differences: [ONE_QUESTION],
  },
  {
    what: 'a long-running call and its result',
    replies: [[calls(call('order', 1))], [says('ordered')], [says('it is here')]],
    answer: { status: 'done' },
  },
  {
    what: 'a transfer',
    replies: [
      [calls({ name: 'transfer_to_agent', args: { agentName: 'helper', agent_name: 'helper' } })],
      [says('helped')],
    ],
    differences: [TRANSFER],
  },
  { what: 'an error of a model', replies: [[{ errorCode: 'SAFETY', errorMessage: 'no' }]] },
  {
    what: 'an exception of a model',
    replies: [[{ fail: 'no tea' }]],
    differences: [MODEL_EXCEPTION],
  },
  {
    what: 'an exception of a tool',
    replies: [[calls({ name: 'lose', args: {} })], [says('lost')]],
    differences: [TOOL_EXCEPTION],
  },
];

export const REST_LEFT: readonly RunCase[] = [
  { what: 'a call', replies: [[calls(call('wait', 0.9))], [says('waited')]] },
  {
    what: 'parallel calls',
    replies: [[calls(call('wait', 0.9), call('wait', 0.8))], [says('waited')]],
  },
  {
    what: 'the model after a call',
    replies: [[calls(call('buy', 1))], [{ wait: 0.9 }, says('one')]],
    leavesAfter: 2,
  },
];
