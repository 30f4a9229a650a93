import { accessibilityIn } from './accessibility_in.js';
import { cachesIn } from './caches_in.js';
import { damageIn } from './damage_in.js';
import { importsIn } from './imports_in.js';
import { inspectorIn } from './inspector_in.js';

inspectorIn('chromium');
accessibilityIn('chromium');
importsIn('chromium');
damageIn('chromium');
cachesIn('chromium');
