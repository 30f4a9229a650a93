import {
  sessionAttachments,
  sessionHistory,
  type SessionHistory,
  type SessionThread,
  sessionThreadList,
  type SessionThreadList,
} from '../../../js/ui/assistant_ui/index.js';
import type { LiveSession } from '../../../js/ui/live/index.js';
import { compiled, describe, is, it } from '../expect.js';
import { key, service } from '../shop.js';

const { appName, userId } = key;

describe('The types of the adapters for assistant-ui', () => {
  it('take any service, and return what assistant-ui stores', async () => {
    compiled(async (item: Parameters<SessionHistory['append']>[0]) => {
      const threads = sessionThreadList({ service, appName, userId, limit: 20 });
      is<SessionThreadList>()(threads);
      is<SessionThread[]>()((await threads.list({ after: 'cursor' })).threads);
      is<SessionThread>()(await threads.fetch('s1'));
      is<Pick<SessionThread, 'remoteId'>>()(
        await threads.initialize('local', { custom: { pinned: 'yes' } }),
      );
      is<void>()(await threads.rename('s1', 'Tea'));
      is<void>()(await threads.updateCustom('s1', undefined));
      is<void>()(await threads.archive('s1'));
      is<void>()(await threads.unarchive('s1'));
      is<void>()(await threads.delete('s1'));
      is<ReadableStream>()(await threads.generateTitle('s1', [item.message]));
      const thread = {
        getState: () => ({ remoteId: 's1' }),
        initialize: async () => ({ remoteId: 's1' }),
      };
      const options = { service: Promise.resolve(service), appName, userId } as const;
      const history = sessionHistory({ ...options, storedBy: 'agent', window: 10 }, () => thread);
      is<SessionHistory>()(history);
      const { messages, headId } = await history.load();
      is<string | undefined>()(headId);
      for (const { message, parentId } of messages) {
        is<string | null>()(parentId);
        // What is loaded can be stored.
        await history.append({ message, parentId });
        await history.update({ message, parentId });
      }
      const attachments = sessionAttachments({} as LiveSession<{ topic?: string }>);
      const pending = await attachments.add({ file: new File([], 'a.txt') });
      is<File>()((await attachments.send(pending)).file);
      is<void>()(await attachments.onNew({ sourceId: null, content: [], attachments: [] }));
      // @ts-expect-error a Blob has no name
      await attachments.add({ file: new Blob([]) });
      // @ts-expect-error without a user
      sessionThreadList({ service, appName });
      // @ts-expect-error nobody else stores
      sessionHistory({ ...options, storedBy: 'nobody' }, () => thread);
    });
  });
});
