/** Paths as people look for them: the file's name first, then where it is. */

export interface NamedPath {
  readonly name: string;
  /** Empty for a file right below where it is told from. */
  readonly folder: string;
}

/** Splits a path; its folders are told from `home`, such as the session's own folder, where they are below it. */
export function namedPath(path: string, home = ""): NamedPath {
  const root = home.replace(/[\\/]+$/, "");
  const below = root !== "" && /^[\\/]/.test(path.slice(root.length)) && path.startsWith(root) ? path.slice(root.length + 1) : path;
  const end = below.replace(/[\\/]+$/, "").length;
  const cut = Math.max(below.lastIndexOf("/", end - 1), below.lastIndexOf("\\", end - 1));
  const name = below.slice(cut + 1);
  return name === "" ? { name: below, folder: "" } : { name, folder: cut <= 0 ? below.slice(0, cut + 1) : below.slice(0, cut) };
}

/** Whether an absolute path is a folder or below it. One that is not plain counts as outside: where it leads is not known here. */
export function isInside(path: string, folder: string): boolean {
  const plain = !/(?:^|[\\/])\.\.?(?:[\\/]|$)/.test(path);
  const root = folder.replace(/[\\/]+$/, "");
  return plain && root !== "" && (path === root || path.startsWith(`${root}/`) || path.startsWith(`${root}\\`));
}
