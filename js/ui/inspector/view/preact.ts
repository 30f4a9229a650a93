/**
 * The view library, in one module: the build puts Preact into it, so that the package does not depend on it.
 *
 * Preact sets texts and properties. It writes no HTML unless `dangerouslySetInnerHTML` asks for it, and nothing here
 * does.
 */
import {
  type Attributes,
  type Component,
  type ComponentChildren,
  createElement,
  type JSX,
  type VNode as AnyNode,
} from 'preact';

export { render } from 'preact';
export { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
export type { ComponentChildren };

/** Any node of a view. */
export type VNode = AnyNode<object>;

type Elements = JSX.IntrinsicElements;

/** Makes an element. */
export function h<Name extends keyof Elements>(
  name: Name,
  attributes: Elements[Name] | null,
  ...children: ComponentChildren[]
): VNode;
/** Makes what a component renders. */
export function h<Props>(
  component: (props: Props) => VNode | null,
  props: Attributes & Omit<NoInfer<Props>, 'children'> & Partial<NoInfer<Props>>,
  ...children: ComponentChildren[]
): VNode;
export function h(
  type: string | ((props: object) => VNode | null),
  props: object | null,
  ...children: ComponentChildren[]
): VNode {
  return createElement(type as string, props, ...children);
}

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
