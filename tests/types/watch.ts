import type { InMemorySessionService as FrameworkService } from '../../js/service/adk/index.js';
import {
  InMemorySessionService,
  type Notice,
  type Notices,
  type Session,
  type SessionService,
  type SharedScope,
  type StopWatching,
} from '../../js/index.js';
import { describe, is, it } from './expect.js';

const APP = { appName: 'app' };

declare const service: SessionService;
declare const framework: FrameworkService;
declare const notice: Notice;
declare const notices: Notices;

describe('A watch', () => {
  it('is iterated, or calls a function and returns how to stop', async () => {
    {
      for (const watched of [service, framework] satisfies SessionService[]) {
        is<Notices>()(watched.watch(APP));
        is<Notices>()(watched.watch(APP, { signal: AbortSignal.timeout(1) }));
        is<StopWatching>()(watched.watch(APP, { onNotice: (notice) => is<Notice>()(notice) }));
        is<number | undefined>()(watched.revisionOf({} as Session<{ topic: string }>));
      }
      // @ts-expect-error an app is named
      service.watch({ userId: 'ada' });
      // @ts-expect-error it is a function
      service.watch(APP, { onNotice: 'log' });
    }
  });

  it('distinguishes notices by their type', async () => {
    {
      switch (notice.type) {
        case 'created':
        case 'appended':
          is<string>()(notice.sessionId);
          is<number>()(notice.revision);
          is<readonly SharedScope[]>()(notice.scopes);
          break;
        case 'deleted':
          is<string>()(notice.userId);
          is<string | undefined>()(notice.sessionId);
          break;
        case 'stateChanged':
          is<readonly SharedScope[]>()(notice.scopes);
          is<string | undefined>()(notice.userId);
          break;
        case 'updated':
          is<string>()(notice.sessionId);
          break;
        case 'lost':
          is<number>()(notice.when);
          is<string>()(notice.message);
          break;
        default:
          is<'resync'>()(notice.type);
      }
    }
    {
      for await (const notice of notices) is<Notice>()(notice);
      await using ended = service.watch(APP);
      is<Notices>()(ended);
      const { value } = await notices.next();
      is<Notice | undefined>()(value);
    }
  });
});
