import { inspectorIn } from './inspector_in.js';

inspectorIn('webkit');
