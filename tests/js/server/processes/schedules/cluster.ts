// Server processes over one database, behind a proxy that sends each request to the next one.

import { setTimeout as pause } from 'node:timers/promises';

import {
  type FreezingProxy,
  startFreezingProxy,
} from '../../../stores/database/proxies/freezing_proxy.js';
import type { AgentServerOptions } from '../servers/agent_server.js';
import type { Lost } from '../servers/lossy_channel.js';
import { type ServerProcess, startAgentServer } from '../servers/server_process.js';
import type { Fault } from './plan.js';

/** How long a channel is cut, in milliseconds. */
const CUT_MS = 5000;

export interface ClusterOptions extends AgentServerOptions {
  readonly size: number;
}

/** A server, and what its channel goes through. */
interface Member {
  readonly options: AgentServerOptions;
  readonly channelPort: number;
  proxy: FreezingProxy | undefined;
  /** Absent while it is down. */
  server: ServerProcess | undefined;
}

export class Cluster {
  readonly #members: readonly Member[];
  readonly #repairs = new Set<Promise<void>>();
  #requests = 0;

  private constructor(members: readonly Member[]) {
    this.#members = members;
  }

  static async start({ size, ...options }: ClusterOptions): Promise<Cluster> {
    const starting = Array.from({ length: size }, () => startMember(options));
    return new Cluster(await Promise.all(starting));
  }

  /** Sends a request to the next server that accepts its connection. */
  readonly fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    for (let tries = 0; ; tries += 1) {
      this.#requests += 1;
      const { server } = this.#members[this.#requests % this.#members.length]!;
      const url = new URL(input instanceof Request ? input.url : input);
      url.port = String(server?.port ?? 1);
      try {
        if (server !== undefined) return await fetch(url, init);
      } catch (error) {
        if (!isRefusedConnection(error)) throw error;
      }
      if (tries === 2 * this.#members.length) throw new TypeError('no server takes the request');
    }
  };

  /** Lets a fault happen. Resolves at once; see `repaired`. */
  fault(fault: Fault, place: number): void {
    const member = this.#members[Math.floor(place * this.#members.length)]!;
    const repair = fault.what === 'kill' ? kill(member, fault.downMs) : cut(member, fault.lost);
    this.#repairs.add(repair);
  }

  /** Resolves once all servers are up, and all channels whole. */
  async repaired(): Promise<void> {
    await Promise.all(this.#repairs);
    this.#repairs.clear();
  }

  /** Ends the slow answers to messages that begin so. */
  endSlow(beginning: string): void {
    for (const { server } of this.#members) server?.child.send(`slow ${beginning}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.repaired();
    for (const { server, proxy } of this.#members) {
      await server?.[Symbol.asyncDispose]();
      await proxy?.close();
    }
  }
}

async function startMember(given: AgentServerOptions): Promise<Member> {
  const channel = given.channel === undefined ? undefined : new URL(given.channel);
  const channelPort = Number(channel?.port);
  const proxy = channel && (await startFreezingProxy(channelPort));
  if (channel && proxy) channel.port = String(proxy.port);
  const options = { ...given, channel: channel?.href };
  return { options, channelPort, proxy, server: await startAgentServer(options) };
}

async function kill(member: Member, downMs: number): Promise<void> {
  const { server } = member;
  if (server === undefined) return;
  member.server = undefined;
  await server[Symbol.asyncDispose]();
  await pause(downMs);
  member.server = await startAgentServer(member.options);
}

async function cut(member: Member, what: Exclude<Lost, 'nothing'> | 'connection'): Promise<void> {
  if (what === 'connection') {
    const { proxy, channelPort } = member;
    if (proxy === undefined) return;
    member.proxy = undefined;
    await proxy.close();
    await pause(CUT_MS);
    member.proxy = await startFreezingProxy(channelPort, proxy.port);
    return;
  }
  const { server } = member;
  const lose = (lost: Lost): void => {
    if (server?.child.connected === true) server.child.send({ lost });
  };
  lose(what);
  await pause(CUT_MS);
  lose('nothing');
}

function isRefusedConnection(error: unknown): boolean {
  const { cause } = Object(error) as { readonly cause?: { readonly code?: unknown } };
  return cause?.code === 'ECONNREFUSED';
}
