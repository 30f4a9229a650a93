// What a test does in a page with a chat, and waits for.

import assert from 'node:assert/strict';
import type { Scenarios, Tab } from './tab.js';

type Page = Tab<Scenarios>;

/**
 * A message whose answer has many words, at 50 ms each: a page on a busy machine may render several at once, and still
 * shows a beginning. As short as a title.
 */
export const MANY_WORDS = 'a b c d e f g h i j k l m n o p q r s t u v w x y z';

/** Sends a message by the page's form. */
export async function say(page: Page, text: string): Promise<void> {
  await page.evaluate(`(() => {
    const input = document.querySelector('form [name=text]');
    input.value = ${JSON.stringify(text)};
    input.form.requestSubmit();
  })()`);
}

/** Clicks the first element of a selector that has this text, when it is there. */
export async function click(page: Page, selector: string, text = ''): Promise<void> {
  await page.evaluate(`${UNTIL}(() => {
    const all = [...document.querySelectorAll(${JSON.stringify(selector)})];
    const found = all.find(({ textContent }) => textContent.includes(${JSON.stringify(text)}));
    found?.click();
    return found !== undefined;
  }, () => ${JSON.stringify(`no ${selector} ${text}`)})`);
}

/** Waits until the elements of a selector have these texts. */
export async function shows(page: Page, selector: string, texts: readonly string[]): Promise<void> {
  const shown = `JSON.stringify([...document.querySelectorAll(${JSON.stringify(selector)})].map(
    (element) => (element.matches('input') ? element.value : element.textContent).trim()))`;
  const expected = JSON.stringify(JSON.stringify(texts));
  await page.evaluate(`${UNTIL}(() => ${shown} === ${expected}, () => ${shown})`);
}

/** Waits until an expression is true in the page. */
export async function until(page: Page, expression: string): Promise<void> {
  const reason = JSON.stringify(`not true: ${expression}`);
  await page.evaluate(`${UNTIL}(() => ${expression}, () => ${reason})`);
}

const UNTIL = `((isTrue, reason) => new Promise((resolve, reject) => {
  const end = Date.now() + 60_000;
  const look = () => {
    if (isTrue()) resolve();
    else if (Date.now() > end) reject(new Error(reason() + ' in: ' + document.body.innerText));
    else setTimeout(look, 20);
  };
  look();
}))`;

/** Notes each text that an element of the selector has from now on. */
export async function record(page: Page, selector: string): Promise<void> {
  await page.evaluate(`(() => {
    const { dataset } = document.documentElement;
    dataset.recorded = '[]';
    const note = () => {
      const texts = new Set(JSON.parse(dataset.recorded));
      for (const { textContent } of document.querySelectorAll(${JSON.stringify(selector)})) texts.add(textContent);
      dataset.recorded = JSON.stringify([...texts]);
    };
    new MutationObserver(note).observe(document.body, { childList: true, subtree: true, characterData: true });
  })()`);
}

/** Fails unless `record` has noted a beginning of the text. */
export async function assertStreamed(page: Page, text: string): Promise<void> {
  const notes = await page.evaluate<string>(`document.documentElement.dataset.recorded`);
  const isBeginning = (note: string): boolean => note.length < text.length && text.startsWith(note);
  const texts = (JSON.parse(notes) as string[]).filter((note) => note !== '');
  assert.ok(texts.some(isBeginning), `no beginning of ${text} in ${notes}`);
}
