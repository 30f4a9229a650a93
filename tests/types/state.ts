import { z } from 'zod';

import {
  Context,
  CallbackContext,
  IndexedDbSessionService,
  InMemorySessionService,
  type InferState,
  Invocation,
  type JsonValue,
  openSessionService,
  type ReadableState,
  type ReadonlyContext,
  type Session,
  type SessionServiceOptions,
  State,
  type StateSchema,
  type StateShape,
  ToolContext,
} from '../../js/index.js';
import { DatabaseSessionService } from '../../js/service/database/index.js';
import { getSessionServiceFromUri } from '../../js/service/uri/index.js';
import { VertexAiSessionService } from '../../js/service/vertex/index.js';
import { compiled, describe, is, it } from './expect.js';
import { key, service, type Shop } from './shop.js';

describe('Values of a state', () => {
  it('are JSON', async () => {
    const values: JsonValue[] = ['a', 1, true, null, [1, ['b']], { a: { b: [null] } }];
    const frozen: JsonValue = Object.freeze([1, 2] as const);
    {
      // @ts-expect-error a function is not JSON
      const a: JsonValue = () => 1;
      // @ts-expect-error a bigint is not JSON
      const b: JsonValue = 1n;
      // @ts-expect-error undefined is not JSON
      const c: JsonValue = { a: undefined };
      return [a, b, c];
    }
  });

  it('have their types in State, and other keys are allowed', async () => {
    const state = new State<Shop>({ topic: 'tea' });
    const topic = state.get('topic');
    const visits = state.get('user:visits', 0);
    const other = state.get('other', 'none');
    const unknown = state.get('unknown');
    const declared = state.get<number[]>('list');
    is<string | undefined>()(topic);
    is<number>()(visits);
    is<string>()(other);
    is<unknown>()(unknown);
    is<number[] | undefined>()(declared);
    state.set('other', { any: 1 });
    state.update({ topic: undefined, 'user:visits': State.REMOVED, more: 1 });
    {
      is<boolean>()(state.has('topic'));
      is<boolean>()(state.hasDelta());
      is<void>()(state.recordChanges());
      is<Partial<Shop> & StateShape>()(state.toRecord());
      is<StateShape>()(state.toJSON());
      // @ts-expect-error a number is no text
      state.set('topic', 5);
      // @ts-expect-error a text is no number
      state.update({ 'user:visits': 'x' });
    }
    void [topic, visits, other, unknown, declared];
  });

  it('have their types in contexts of all three names', async () => {
    compiled((): unknown => {
      const invocation = new Invocation({ service, session: {} as Session<Shop> });
      const context = invocation.context({ agentName: 'a' });
      is<Context<Shop>>()(context);
      const topic = context.state.get('topic');
      is<string | undefined>()(topic);
      const [tool, callback]: [ToolContext<Shop>, CallbackContext<Shop>] = [context, context];
      // @ts-expect-error a number is no text
      context.state.set('topic', 5);
      // @ts-expect-error an agent has a name
      invocation.context({});
      return [tool, callback];
    });
  });

  it('fit where a state of any shape is asked for', async () => {
    compiled((): unknown => {
      const invocation = new Invocation({ service, session: {} as Session<Shop> });
      const context = invocation.context({ agentName: 'a' });
      const any: { invocation: Invocation; context: Context; readonly: ReadonlyContext } = {
        invocation,
        context,
        readonly: invocation.readonlyContext({ agentName: 'a' }),
      };
      const states: [State, ReadableState] = [context.state, any.readonly.state];
      is<string | undefined>()(context.state.toRecord().topic);
      // @ts-expect-error its topic is a number
      const other: Context<{ topic: number }> = context;
      return [any, states, other];
    });
  });

  it('follow from a schema', async () => {
    const stateSchema = { topic: z.string(), 'user:visits': z.number() } satisfies StateSchema;
    type State = InferState<typeof stateSchema>;
    is<{ topic: string; 'user:visits': number }>()({} as State);
    const options: SessionServiceOptions = { stateSchema };
    const typed = new InMemorySessionService<State>(options);
    const session = typed.createSessionSync({ ...key, state: { topic: 'tea' } });
    is<string | undefined>()(session.state.topic);
    {
      // @ts-expect-error no Standard Schema
      const wrong: StateSchema = { topic: 'string' };
      return wrong;
    }
  });

  it('are inferred from the schema that a service is given', async () => {
    const stateSchema = { topic: z.string(), 'user:visits': z.number() };
    interface Declared {
      topic: string;
      'user:visits': number;
    }
    const memory = new InMemorySessionService({ stateSchema });
    is<string | undefined>()(memory.createSessionSync(key).state.topic);
    {
      const opened = await openSessionService({ storage: 'memory', stateSchema });
      const auto = await openSessionService({ storage: 'auto', name: 'shop', stateSchema });
      const url = new DatabaseSessionService('sqlite::memory:', { stateSchema });
      const database = new DatabaseSessionService({ url: 'sqlite::memory:', stateSchema });
      const vertex = new VertexAiSessionService({ agentEngineId: '7', stateSchema });
      const named = getSessionServiceFromUri('memory://', { stateSchema });
      const indexedDb = new IndexedDbSessionService({ stateSchema });
      for (const service of [memory, opened, auto, url, database, vertex, named, indexedDb]) {
        const { state } = await service.createSession({ ...key, state: { topic: 'tea' } });
        is<string | undefined>()(state.topic);
        is<number | undefined>()(state['user:visits']);
        // @ts-expect-error the schema has no such key
        void state.topik;
        // @ts-expect-error a number is no text
        await service.createSession({ ...key, state: { topic: 5 } });
      }
      new InMemorySessionService<Declared>({ stateSchema });
      new InMemorySessionService<Declared>({ stateSchema: { topic: z.string() } });
      // @ts-expect-error a schema of another type
      new InMemorySessionService<Declared>({ stateSchema: { topic: z.number() } });
      // @ts-expect-error no Standard Schema
      new InMemorySessionService({ stateSchema: { topic: 'string' } });
      const converting = new InMemorySessionService({
        stateSchema: { count: z.string().transform(Number) },
      });
      // The given value is stored, not the schema's output.
      is<string | undefined>()(converting.createSessionSync(key).state.count);
    }
  });
});
