"""What a person sees: wording, figures, the report, the advice, the files of a schedule."""
