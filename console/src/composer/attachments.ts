/** Files for a prompt: read, bounded, as base64. */
import type { Attachment } from "turnwire-client";

export interface Attached extends Attachment {
  readonly name: string;
  readonly media_type: string;
}

const LARGEST = 10 * 1024 * 1024;

export async function attach(file: File): Promise<Attached> {
  if (file.size > LARGEST) throw new Error(`${file.name} is larger than 10 MB.`);
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return { name: file.name || "pasted image", media_type: file.type || "application/octet-stream", base64: btoa(binary) };
}
