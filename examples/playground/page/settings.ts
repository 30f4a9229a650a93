// The settings: which agents answer, with which model. They stay in this tab until it is closed, because a key is a
// secret.

import { pageElement } from './element.js';

/** What the form of the settings holds. */
export interface Settings {
  /** The loop of the examples, or the framework. */
  readonly engine: 'loop' | 'adk';
  readonly model: 'scripted' | 'gemini' | 'openai' | 'browser';
  readonly key: string;
  /** The model's name at its provider. */
  readonly modelName: string;
  /** Where a server with OpenAI's API is. */
  readonly url: string;
}

const NAME = 'playground settings';
const form = pageElement('form', 'settings');

/** Returns the settings as they are now. */
export function currentSettings(): Settings {
  return Object.fromEntries(new FormData(form)) as unknown as Settings;
}

/**
 * Shows the settings of this tab, and keeps what changes.
 *
 * @param hasBrowserModel returns whether the browser has a model that this device can run
 */
export function startSettings(hasBrowserModel: () => Promise<boolean>): void {
  const kept = JSON.parse(sessionStorage.getItem(NAME) ?? '{}') as Partial<Settings>;
  for (const [name, value] of Object.entries(kept)) {
    const field = form.elements.namedItem(name);
    if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement)
      field.value = value;
  }
  const show = (): void => {
    form.dataset.model = currentSettings().model;
  };
  show();
  void hasBrowserModel().then((isOffered) => {
    if (!isOffered) form.querySelector('[value=browser]')?.remove();
    show();
  });
  form.addEventListener('input', () => {
    show();
    sessionStorage.setItem(NAME, JSON.stringify(currentSettings()));
  });
  form.addEventListener('submit', (event) => event.preventDefault());
}
