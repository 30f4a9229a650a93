// Links of the repository's Markdown, and of the pages that the site has of them.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** All files below a folder with one of these endings. */
export function filesBelow(folder: string, ending: RegExp): string[] {
  return readdirSync(folder, { encoding: 'utf8', recursive: true })
    .filter((file) => ending.test(file) && !/(^|\/)(node_modules|\.next)\//.test(file))
    .map((file) => join(folder, file));
}

/** The anchors of a Markdown file, by GitHub's rule, and those that it has as HTML. */
function anchorsOf(markdown: string): Set<string> {
  const text = markdown.replace(/^```.*?^```$/gms, '');
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => {
    const shown = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
    return shown
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replace(/\s/g, '-');
  });
  const named = [...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id);
  return new Set([...headings, ...named]);
}

/**
 * The links of Markdown files that lead to no file, or to no heading of one.
 *
 * @param isThere whether a reader of the files has a file or a folder
 */
export function brokenLinks(
  files: readonly string[],
  root: string,
  isThere: (path: string) => boolean = existsSync,
): string[] {
  return files.flatMap((file) => {
    const text = readFileSync(file, 'utf8').replace(/^```.*?^```$/gms, '');
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
    return links
      .filter((link) => !/^(https?|mailto):/.test(link))
      .filter((link) => {
        const [path = '', anchor] = link.split('#');
        const target = path === '' ? file : resolve(dirname(file), path);
        if (!isThere(target)) return true;
        return anchor !== undefined && !anchorsOf(readFileSync(target, 'utf8')).has(anchor);
      })
      .map((link) => `${relative(root, file)}: ${link}`);
  });
}

/** The links of built pages that lead to no file of the site, or to no element of a page. */
export function brokenSiteLinks(site: string, files: readonly string[]): string[] {
  const read = new Map<string, string>();
  const textOf = (file: string): string => {
    const text = read.get(file) ?? readFileSync(file, 'utf8');
    read.set(file, text);
    return text;
  };
  const fileOf = (path: string): string | undefined =>
    [path, `${path}.html`, join(path, 'index.html')].find(
      (each) => existsSync(each) && statSync(each).isFile(),
    );
  return files.flatMap((file) => {
    const links = [...textOf(file).matchAll(/ (?:href|src)="([^"]*)"/g)].map(
      ([, link = '']) => link,
    );
    return [...new Set(links)]
      .filter((link) => !/^([a-z]+:|\/\/)/.test(link))
      .filter((link) => {
        const [path = '', anchor = ''] = link.replaceAll('&amp;', '&').split('#');
        const name = decodeURIComponent(path.replace(/\?.*/, ''));
        const absolute = name.startsWith('/') ? join(site, name) : resolve(dirname(file), name);
        const target = name === '' ? file : fileOf(absolute);
        if (target === undefined) return true;
        if (anchor === '' || !target.endsWith('.html')) return false;
        return !textOf(target).includes(`id="${decodeURIComponent(anchor)}"`);
      })
      .map((link) => `${relative(site, file)}: ${link}`);
  });
}
