"""What a driver asks goes in, what is spent, what runs and what each attempt was comes out: money and records."""
