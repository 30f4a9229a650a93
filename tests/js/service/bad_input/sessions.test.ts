import { Invocation, type State } from '../../../../js/index.js';
import { APP, KEY, says, USER } from '../fixture.js';
import { type Call, invalid, refusesAll, type Row, through, updating } from './rows.js';

function* wrongSessions(): Generator<Row> {
  const stateDelta = { 'app:x': 1, 'user:x': 1, x: 1 };
  const gone = { ...USER, sessionId: 'gone' };
  const never = { id: 'never', ...USER, state: {}, events: [], lastUpdateTime: 0 };
  const appendToGone: Call = async ({ service }) => {
    const session = await service.createSession(gone);
    await service.deleteSession(gone);
    return service.appendEvent({ session, event: says('x', stateDelta) });
  };
  const create: Call = ({ service }) => service.createSession({ ...KEY, state: stateDelta });
  const write: Call = (world) => {
    const { state } = new Invocation(world).readonlyContext({ agentName: 'a' });
    (state as State).set('a', 5);
  };
  yield ['createSession: the id exists', create, 'already_exists', 'session'];
  yield ['appendEvent: a session that was deleted', appendToGone, 'not_found', 'gone'];
  yield ['appendEvent: a session that never was', through(() => never), 'not_found', 'never'];
  yield ['updateState: a session that never was', updating({ ...gone, stateDelta }), 'not_found', 'gone']; // prettier-ignore
  yield ['updateState: a session key alone', updating({ ...USER, stateDelta }), invalid, '"x"'];
  yield ['updateState: a user key alone', updating({ ...APP, stateDelta: { 'user:x': 1 } }), invalid, '"user:x"']; // prettier-ignore
  yield ['updateState: a session without a user', updating({ ...KEY, userId: undefined, stateDelta }), invalid, 'userId']; // prettier-ignore
  yield ['a write to a read-only context', write, 'readonly', '"a"'];
}

refusesAll('Missing and existing sessions', wrongSessions());
