import type { CachedSessionService, OutboxEntry } from '../../../service/cache/index.js';
import { useAction, useReading } from '../view/hooks.js';
import { Button, ConfirmButton, ErrorNote, Items } from '../view/parts.js';
import { useEffect, useState, type VNode } from '../view/preact.js';
import { clip, timeText, visibleText } from '../view/text.js';

/** What a cache has not sent yet, what its remote refused, and what the browser has lost of it. */
export function OutboxView(props: {
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
