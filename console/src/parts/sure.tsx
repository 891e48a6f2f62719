/** Asks for consent to a choice after which the agent asks less: without it the choice counts for nothing. */

interface Props {
  about: string;
  sure: boolean;
  onSure: (sure: boolean) => void;
}

export function Sure({ about, sure, onSure }: Props) {
  return (
    <label class="inline wrong">
      <input type="checkbox" required checked={sure} onChange={(event) => onSure(event.currentTarget.checked)} />
      <span>{about} Yes, I want this.</span>
    </label>
  );
}
