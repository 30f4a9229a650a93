import { recommendTea, scriptedModel } from '../../tea_shop.js';
import { modelOf } from '../models/model_of.js';
import { sessions } from '../page/sessions.js';
import type { Turn } from './turn.js';

/** The tea shop, on the agent loop of the examples. */
export async function answer({ key, text, settings, onPartial }: Turn): Promise<void> {
  const model = modelOf(settings, scriptedModel);
  await recommendTea(await sessions, key, model, text, onPartial);
}
