import { until } from '../chat_page.js';
import type { Scenarios, Tab } from '../tab.js';

/** An expression with the inspector of the page. */
export const INSPECTOR = `document.querySelector('adk-session-inspector')`;

/** Opens the events of the conversation in the inspector, which shows one part at a time where it is narrow. */
export async function openEvents(page: Tab<Scenarios>): Promise<void> {
  await page.evaluate(`[...${INSPECTOR}.shadowRoot.querySelectorAll('[role=tab]')]
    .find(({ textContent }) => textContent === 'Events')?.click()`);
  await until(page, `${INSPECTOR}.shadowRoot.textContent.includes('remember_taste')`);
}
