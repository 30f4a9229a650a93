import { afterCommit, type Call } from '../../core/call/call.js';
import type { PageRequest, ReadPage } from '../../core/read.js';
import { NO_LIMIT } from '../../core/storage/cut_page.js';
import { RowStore } from '../../core/storage/driver/row_store.js';
import type { Appended, CreatedSession, SharedRevisions } from '../../core/storage/store.js';
import type { CreateWrite, ReadyAppend, UpdateWrite } from '../../core/write.js';
import { SessionError } from '../../values/errors/errors.js';

/** The store over Vertex AI, where other programs may write between the requests of a verb. */
export class VertexStore extends RowStore {
  /** Reads a session with events again, since their revisions may be later than decided. */
  override async create(write: CreateWrite, call: Call): Promise<CreatedSession | undefined> {
    const created = await super.create(write, call);
    if (created === undefined || write.events.length === 0) return created;
    // It is stored, so a failed read must not fail the creation: its handle is then stale.
    const request = { key: write.key, last: 0 };
    const read = await this.window(request, afterCommit(call)).catch(() => undefined);
    return { ...(read ?? created), shared: created.shared };
  }

  override async append(write: ReadyAppend, call: Call): Promise<Appended> {
    if (write.compute !== undefined) throw hasNoTransactions();
    return super.append(write, call);
  }

  override async update(write: UpdateWrite, call: Call): Promise<SharedRevisions> {
    if (typeof write.delta !== 'string') throw hasNoTransactions();
    return super.update(write, call);
  }

  /** To read a page costs to read all events after it, so a walk through the pages gets the rest at once. */
  override page(request: PageRequest, call: Call): Promise<ReadPage | undefined> {
    return super.page(request.isToEnd === true ? { ...request, limit: NO_LIMIT } : request, call);
  }
}

function hasNoTransactions(): SessionError {
  const message = 'The storage has no transactions, so stateDelta must not be a function here.';
  return new SessionError('unsupported', message, { key: 'stateDelta' });
}
