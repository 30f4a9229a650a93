import type { GivenService } from '../../../core/call/given_service.js';
import type { SessionService } from '../../../values/model/session_service.js';
import type { CachedSessionService } from '../../../service/cache/index.js';
import {
  requestPersistence,
  storageUsage,
  type StorageUsage,
} from '../../../core/storage/persistence.js';
import { useAction, useReading } from '../view/hooks.js';
import { Button, ErrorNote, Facts } from '../view/parts.js';
import { useState, type VNode } from '../view/preact.js';
import { bytesText, timeText } from '../view/text.js';
import { OutboxView } from './outbox_view.js';

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
