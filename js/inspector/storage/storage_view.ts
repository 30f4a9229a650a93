import type { CachedSessionService } from '../../cache/index.js';
import type { GivenService, LiveService } from '../../live/index.js';
import type { StorageInfo } from '../../model/session_service.js';
import { requestPersistence, storageUsage, type StorageUsage } from '../../storage/persistence.js';
import { useAction } from '../view/hooks.js';
import { ErrorNote } from '../view/parts.js';
import { h, useEffect, useState, type VNode } from '../view/preact.js';
import { bytesText, timeText, visibleText } from '../view/text.js';
import { OutboxView } from './outbox_view.js';

interface StorageFacts {
  readonly service: LiveService;
  readonly usage: StorageUsage | undefined;
  readonly isPersisted: boolean | undefined;
}

/** Where the data is, whether it lasts, how much room it takes, and what waits to be sent. */
export function StorageView({ service }: { service: GivenService }): VNode {
  const [facts, setFacts] = useState<StorageFacts | undefined>(undefined);
  const { run, isBusy, error } = useAction();
  const read = async (): Promise<void> => {
    const [opened, usage, isPersisted] = await Promise.all([service, storageUsage(), persisted()]);
    setFacts({ service: opened, usage, isPersisted });
  };
  useEffect(() => void run(read), [service]);
  const persist = (): void =>
    void run(async () => {
      await requestPersistence();
      await read();
    });
  return h('div', null, [
    h(ErrorNote, { error }),
    facts !== undefined && h(FactList, { storage: facts.service.storage, ...facts }),
    h('div', { class: 'row' }, [
      h('button', { type: 'button', disabled: isBusy, onClick: () => void run(read) }, 'Refresh'),
      facts?.isPersisted === false &&
        h(
          'button',
          { type: 'button', disabled: isBusy, onClick: persist },
          'Ask the browser to keep the data',
        ),
    ]),
    facts !== undefined && isCache(facts.service) && h(OutboxView, { service: facts.service }),
  ]);
}

function FactList({ storage, usage, isPersisted }: StorageFacts & { storage: StorageInfo }): VNode {
  const rows: [string, string][] = [
    ['Storage', storage.kind],
    ['Outlives the page', storage.durable ? 'yes' : 'no'],
  ];
  if (storage.reason !== undefined) rows.push(['Why', storage.reason]);
  if (storage.lost !== undefined) {
    rows.push(['Lost', `${timeText(storage.lost.when)}: ${storage.lost.message}`]);
  }
  if (usage !== undefined) rows.push(['Used by this site', bytesText(usage.usage)]);
  if (isPersisted !== undefined) {
    rows.push(['Kept when the disk runs full', isPersisted ? 'yes' : 'not promised']);
  }
  return h(
    'dl',
    { class: 'facts' },
    rows.map(([name, value]) =>
      h('div', { key: name }, [h('dt', null, name), h('dd', null, visibleText(value))]),
    ),
  );
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
