import { CORE, coreOf } from '../../../js/core/core_of.js';
import type { SessionService } from '../../../js/index.js';

/** Returns an object with other values of some members. Its methods are those of the object itself. */
function withMembers<Value extends object>(value: Value, members: object): Value {
  return new Proxy(value, {
    get: (target, name) => {
      if (Object.hasOwn(members, name)) return Reflect.get(members, name) as unknown;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
}

/** Returns a service as another process has it: the same storage, and none of the runs of this process. */
export function inOtherProcess<Service extends SessionService>(service: Service): Service {
  const core = withMembers(coreOf(service)!, { sharedStorage: {} });
  return withMembers(service, { [CORE]: core });
}
