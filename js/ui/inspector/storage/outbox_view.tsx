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
        {({ key, events, error }) => (
          <li key={JSON.stringify(key)}>
            <bdi>
              {clip([key.appName, key.userId, key.sessionId].filter(Boolean).join(' / '), 200)}
            </bdi>{' '}
            {events.length} events{' '}
            {error !== undefined && <p class="error">{visibleText(error.message)}</p>}
            <div class="row">
              {error !== undefined && (
                <Button
                  label="Send again"
                  isDisabled={isBusy}
                  onClick={() => void run(() => service.outbox.retry(key))}
                />
              )}
              <ConfirmButton
                label="Give up"
                question="Give up what was not sent?"
                isDisabled={isBusy}
                onConfirm={() => void run(() => service.outbox.drop(key))}
              />
            </div>
          </li>
        )}
      </Items>
    </section>
  );
}
