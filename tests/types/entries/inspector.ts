import { type CompositeSessionKey, InMemorySessionService } from '../../../js/index.js';
import {
  type InspectorProperties,
  SessionInspectorElement,
} from '../../../js/ui/inspector/index.js';
import { describe, is, it } from '../expect.js';
import { service, type Shop } from '../shop.js';

describe('The inspector', () => {
  it('is known by its name, and takes any service', async () => {
    {
      const inspector = document.createElement('adk-session-inspector');
      is<HTMLElement & InspectorProperties>()(inspector);
      is<SessionInspectorElement>()(new SessionInspectorElement());
      inspector.service = service;
      inspector.service = new InMemorySessionService<Shop>();
      inspector.service = null;
      inspector.appName = 'shop';
      inspector.userId = undefined;
      is<string | null | undefined>()(inspector.sessionId);
      inspector.addEventListener('sessionselect', ({ detail }) =>
        is<CompositeSessionKey>()(detail),
      );
      // @ts-expect-error an id is a text
      inspector.sessionId = 7;
    }
  });
});
