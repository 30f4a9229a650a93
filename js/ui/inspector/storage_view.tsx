import type { GivenService } from '../../core/call/given_service.js';
import {
  requestPersistence,
  storageUsage,
  type StorageUsage,
} from '../../core/storage/persistence.js';
import type { CachedSessionService, OutboxEntry } from '../../service/cache/index.js';
import type { SessionService } from '../../values/model/session_service.js';
import { useAction, useReading } from './view/hooks.js';
import { Button, ErrorNote, Facts, ConfirmButton, Items } from './view/parts.js';
import { useState, type VNode, useEffect } from './view/preact.js';
import { bytesText, timeText, clip, visibleText } from './view/text.js';

/** Where the data is, whether it lasts, how much room it takes, and what waits to be sent. */
export function StorageView({ service: given }: { service: GivenService<SessionService> }): VNode {
  const [turn, setTurn] = useState(0);
  const reading = useReading(
    () => Promise.all([Promise.resolve(given), storageUsage(), persisted()]),
    [given, turn],
  );
  const persisting = useAction();
  const isDisabled = reading.isBusy || persisting.isBusy;
  const refresh = (): void => setTurn(turn + 1);
  const persist = (): void => void persisting.run(requestPersistence).then(refresh);
  const [service, usage, isPersisted] = reading.value ?? [];
  return (
    <div>
      <ErrorNote error={reading.error ?? persisting.error} />
      {service !== undefined && <Facts facts={factsOf(service, usage, isPersisted)} />}
      <div class="row">
        <Button label="Refresh" isDisabled={isDisabled} onClick={refresh} />
        {isPersisted === false && (
          <Button
            label="Ask the browser to keep the data"
            isDisabled={isDisabled}
            onClick={persist}
          />
        )}
      </div>
      {service !== undefined && isCache(service) && <OutboxView service={service} />}
    </div>
  );
}

function factsOf(
  service: SessionService,
  usage: StorageUsage | undefined,
  isPersisted: boolean | undefined,
): Record<string, string | undefined> {
  const { kind, durable, reason, lost } = service.storage;
  return {
    Storage: kind,
    'Outlives the page': durable ? 'yes' : 'no',
    Why: reason,
    Lost: lost && `${timeText(lost.when)}: ${lost.message}`,
    'Used by this site': usage && bytesText(usage.usage),
    'Kept when the disk runs full':
      isPersisted === undefined ? undefined : isPersisted ? 'yes' : 'not promised',
  };
}

async function persisted(): Promise<boolean | undefined> {
  try {
    return await navigator.storage.persisted();
  } catch {
    // Missing on pages without TLS.
    return undefined;
  }
}

type Cache = Pick<CachedSessionService, 'status' | 'watchStatus' | 'outbox'>;

function isCache(service: object): service is Cache {
  return typeof (service as Partial<Cache>).watchStatus === 'function';
}

/** What a cache has not sent yet, what its remote refused, and what the browser has lost of it. */
function OutboxView(props: {
  service: Pick<CachedSessionService, 'status' | 'watchStatus' | 'outbox'>;
}): VNode {
  const { service } = props;
  const [status, setStatus] = useState(service.status);
  const { run, isBusy, error } = useAction();
  useEffect(() => {
    setStatus(service.status);
    return service.watchStatus((status) => setStatus(status));
  }, [service]);
  const { isOnline, isSending, lastSuccess, lastError, pending, lost } = status;
  const listing = useReading(() => service.outbox.list(), [service, pending]);
  const entries = listing.value ?? [];
  return (
    <section aria-label="Outbox">
      <h2>Outbox</h2>
      <p role="status">
        {isOnline ? 'Online' : 'Offline'}
        {isSending && ', sending'}, {entries.length} waiting
        {lastSuccess !== undefined && `, last reached ${timeText(lastSuccess)}`}
      </p>
      {lost !== undefined && (
        <p class="error">
          {timeText(lost.when)}: {lost.message}
        </p>
      )}
      {lastError !== undefined && <p class="error">{visibleText(lastError.message)}</p>}
      <ErrorNote error={error ?? listing.error} />
      <Items<OutboxEntry> items={entries}>
        {(entry) => (
          <li key={JSON.stringify([entry.key, entry.id])}>
            <bdi>{clip(nameOf(entry), 200)}</bdi> {countText(entry)}{' '}
            {entry.error !== undefined && <p class="error">{visibleText(entry.error.message)}</p>}
            <div class="row">
              {entry.error !== undefined && (
                <Button
                  label="Send again"
                  isDisabled={isBusy}
                  onClick={() => void run(() => service.outbox.retry(entry))}
                />
              )}
              <ConfirmButton
                label="Give up"
                question="Give up what was not sent?"
                isDisabled={isBusy}
                onConfirm={() => void run(() => service.outbox.drop(entry))}
              />
            </div>
          </li>
        )}
      </Items>
    </section>
  );
}

function nameOf({ key }: OutboxEntry): string {
  return [key.appName, key.userId, key.sessionId].filter(Boolean).join(' / ');
}

function countText({ events, blocked = [] }: OutboxEntry): string {
  const behind = blocked.length > 0 ? `, ${blocked.length} of them behind the refused` : '';
  return `${events.length} events${behind}`;
}
