import type { GivenService } from '../../core/call/given_service.js';
import { coreOf } from '../../core/core_of.js';
import type { SessionService } from '../../values/model/session_service.js';
import { Button } from './view/parts.js';
import { useLayoutEffect, useState, type VNode } from './view/preact.js';

interface UntilForgottenProps {
  service: GivenService<SessionService>;
  /** Called when a cache has erased what is shown. */
  onForgotten: () => void;
  show: () => VNode;
}

/** Shows a view until a cache erases what it shows. Then nothing of it is left, and nothing is read until the user asks for it. */
export function UntilForgotten({ service, onForgotten, show }: UntilForgottenProps): VNode {
  const [isForgotten, setForgotten] = useState(false);
  // The view reads in later effects, so no erasure is missed after that.
  useLayoutEffect(() => {
    const onErased = (): void => {
      setForgotten(true);
      onForgotten();
    };
    let stop: (() => void) | undefined;
    let isOver = false;
    Promise.resolve(service).then(
      (opened) => {
        if (!isOver) stop = coreOf(opened)?.epochs?.onErased(onErased);
      },
      () => undefined,
    );
    return () => {
      isOver = true;
      stop?.();
    };
  }, [service]);
  if (!isForgotten) return show();
  return (
    <section class="inspector" aria-label="Session inspector">
      <p role="status">The local data was erased.</p>
      <Button label="Show again" onClick={() => setForgotten(false)} />
    </section>
  );
}
