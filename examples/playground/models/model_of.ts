import type { Model } from '../../agent_loop.js';
import { geminiModel } from '../../gemini_model.js';
import type { Settings } from '../page/settings.js';
import { browserModel } from './browser_model.js';
import { openAiModel } from './openai_model.js';

/**
 * Returns the model that the settings name.
 *
 * @param scripted the model that needs no key
 * @throws Error if something is missing in the settings
 */
export function modelOf({ model, key, modelName, url }: Settings, scripted: Model): Model {
  if (model === 'scripted') return inWords(scripted);
  if (model === 'browser') return browserModel;
  if (key === '' && model === 'gemini') throw new Error('Enter a key of the Gemini API.');
  if (model === 'gemini') return geminiModel(key, modelName || undefined);
  if (url === '' || modelName === '') throw new Error('Enter the URL and the name of the model.');
  return openAiModel({ url, key, name: modelName });
}

/** Streams a text word by word. */
function inWords(model: Model): Model {
  return async (instruction, contents, tools, onText) => {
    const content = await model(instruction, contents, tools, onText);
    for (const { text = '' } of content.parts ?? []) {
      for (const word of text.split(/(?<= )/)) {
        await new Promise((resolve) => setTimeout(resolve, 40));
        if (word !== '') onText?.(word);
      }
    }
    return content;
  };
}
