import assert from 'node:assert/strict';
import { it } from 'node:test';
import { OwnerChanges } from '../../../../../js/stores/cache/data/owner_changes.js';

it('two transactions give shared writes two outbox versions, so that no tab keeps what it remembers', () => {
  const first = new OwnerChanges(undefined, { client: 'client', counter: 7 });
  first.renewSharedOutboxVersion();
  const second = new OwnerChanges(first.owner, { client: 'client', counter: 7 });
  second.renewSharedOutboxVersion();
  assert.deepEqual([first.owner.sharedOutboxVersion, second.owner.sharedOutboxVersion], [8, 9]);
});
