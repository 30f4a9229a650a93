import { memberOf } from '../members/own.js';
import type { BuiltInAdapter } from '../storage/built_in_adapter.js';
import { AdapterStore } from '../storage/driver/adapter_store.js';
import { partsOver } from './over_adapter.js';
import type { ServiceParts } from './service_options.js';

/** Returns the parts of a service over an adapter of this package. */
export function partsOverBuiltIn(adapter: BuiltInAdapter): ServiceParts {
  return {
    ...partsOver(adapter, (onConnectionLost) => {
      adapter.onConnectionLost = onConnectionLost;
      return new AdapterStore(adapter, adapter);
    }),
    expires: adapter.kind === 'vertexai',
    closing: (timeoutMs) => memberOf(adapter, 'closing')?.call(adapter, timeoutMs),
    explain: (error, key) => adapter.explain(error, key),
  };
}
