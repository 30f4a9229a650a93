import { followsAfterCut } from './cut_feed.js';

followsAfterCut(60_000);
