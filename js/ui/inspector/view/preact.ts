/**
 * The view library, in one module: the build puts Preact into it, so that the package does not depend on it.
 *
 * Preact sets texts and properties. It writes no HTML unless `dangerouslySetInnerHTML` asks for it, and nothing here
 * does.
 */
import type { Component, ComponentChildren, JSX } from 'preact';

export { render } from 'preact';
export { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
// What JSX is compiled to.
export { Fragment, jsx, jsxs } from 'preact/jsx-runtime';
export type { ComponentChildren };

/** Any node of a view. */
export type VNode = JSX.Element;

/** Returns a component that renders again only if one of its properties is another value. */
export function memo<Props extends object>(
  component: (props: Props) => VNode,
): (props: Props) => VNode {
  function memoized(this: Component<Props>, props: Props): VNode {
    this.shouldComponentUpdate = (next) =>
      Object.entries(next).some(([name, value]) => value !== this.props[name as keyof Props]);
    return component(props);
  }
  return memoized;
}
