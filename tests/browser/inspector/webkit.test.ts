import { accessibilityIn } from './accessibility_in.js';
import { inspectorIn } from './inspector_in.js';

inspectorIn('webkit');
accessibilityIn('webkit');
