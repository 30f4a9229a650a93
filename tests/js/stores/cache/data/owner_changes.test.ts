import assert from 'node:assert/strict';
import { it } from 'node:test';
import { OwnerChanges } from '../../../../../js/stores/cache/data/owner_changes.js';
import { VERSION } from '../../../../../js/stores/cache/records/records.js';

it('two transactions give shared writes two outbox versions, so that no tab keeps what it remembers', () => {
  const first = new OwnerChanges(undefined, { client: 'client', counter: 7 });
  first.renewSharedOutboxVersion();
  const second = new OwnerChanges(first.owner, { client: 'client', counter: 7 });
  second.renewSharedOutboxVersion();
  assert.deepEqual([first.owner.sharedOutboxVersion, second.owner.sharedOutboxVersion], [8, 9]);
});

it('records of an earlier version get the present one, so that an earlier build reads them no more', () => {
  const { owner } = new OwnerChanges(undefined, { client: 'client', counter: 7 });
  const earlier = new OwnerChanges({ ...owner, version: VERSION - 1 }, owner);
  assert.equal(earlier.owner.version, VERSION);
  assert.ok(earlier.isOwnerChanged, 'it is stored');
  assert.ok(!new OwnerChanges(owner, owner).isOwnerChanged);
});
