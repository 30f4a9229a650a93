import type { CacheHandle } from './handle_probe.js';
import type { Tab } from '../device.js';

/** The session objects of the open tabs. */
export class Handles {
  readonly #handles: CacheHandle[] = [];
  #count = 0;

  add(handle: Omit<CacheHandle, 'number'>): void {
    this.#handles.push({ ...handle, number: this.#count });
    this.#count += 1;
  }

  get(number: number): CacheHandle {
    return this.#handles.find((handle) => handle.number === number)!;
  }

  of(tab: Tab): CacheHandle[] {
    return this.#handles.filter((handle) => handle.tab === tab);
  }

  newest(count: number): CacheHandle[] {
    return this.#handles.slice(-count);
  }

  /** Removes the handles of a tab that has ended. */
  forget(tab: Tab): void {
    for (const handle of this.of(tab)) this.#handles.splice(this.#handles.indexOf(handle), 1);
  }
}
