import type { ComponentType } from "preact";
import type { Row } from "../model/rows.js";

/** Shows a row within a card. The page's own rows hold cards, so a card is told how rows are shown. */
export type RowPart = ComponentType<{ row: Row }>;
