// The package as these pages use it.

import * as library from 'adk-session-wasm';
import type { BaseSessionService } from 'adk-session-wasm';

export interface IndexedDbOptions {
  name: string;
  durability?: 'relaxed' | 'strict';
  timeoutMs?: number;
  blockedTimeoutMs?: number;
}

export type Change =
  | {
      type: 'created' | 'appended' | 'deleted';
      appName: string;
      userId: string;
      sessionId: string;
      revision: number;
    }
  | { type: 'stateChanged'; appName: string; userId?: string; revision: number }
  | { type: 'resync' };

export interface WatchRequest {
  appName: string;
  userId?: string;
  sessionId?: string;
}

export interface WatchedService extends BaseSessionService {
  watch(request: WatchRequest, options?: { signal?: AbortSignal }): AsyncIterable<Change>;
}

interface Library {
  IndexedDbSessionService: {
    new (options: IndexedDbOptions): WatchedService;
    deleteDatabase(name: string): Promise<void>;
  };
  openSessionService: (
    options: IndexedDbOptions & { storage: 'auto' | 'indexeddb' },
  ) => Promise<WatchedService>;
}

export const { IndexedDbSessionService, openSessionService } = library as unknown as Library;
export { createEvent, isSessionError } from 'adk-session-wasm';
