import { click, until } from '../chat_page.js';
import type { Scenarios, Tab } from '../tab.js';

/** An expression with the inspector of the page. */
export const INSPECTOR = `document.querySelector('adk-session-inspector')`;

/** Opens a tab of the inspector, which lies behind what the agents know. */
export async function openTab(page: Tab<Scenarios>, name: string): Promise<void> {
  await click(page, '#tab-inspector');
  await page.evaluate(`[...${INSPECTOR}.shadowRoot.querySelectorAll('[role=tab]')]
    .find(({ textContent }) => textContent === ${JSON.stringify(name)})?.click()`);
}

/** Opens the events of the conversation in the inspector. */
export async function openEvents(page: Tab<Scenarios>): Promise<void> {
  await openTab(page, 'Events');
  await until(page, `${INSPECTOR}.shadowRoot.textContent.includes('remember_taste')`);
}
