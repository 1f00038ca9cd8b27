"""Make the artificial table that `frri example patients.csv` writes.

`python tests/make_patients.py` writes it again; a test compares the two.
"""

import random
from datetime import date, timedelta
from pathlib import Path

PATH = Path(__file__).parents[1] / "src" / "frri" / "cli" / "patients.csv"
SEED, N_ROWS = 20, 200


def patients():
    """Return the table as text. High risk means high glucose, or smoking with high blood pressure, above an age."""
    generator = random.Random(SEED)
    lines = ["age,sex,glucose,pressure,bmi,smoker,visit,risk"]
    for _ in range(N_ROWS):
        age = generator.randint(25, 84)
        sex = generator.choice(["female", "male"])
        # Sums of two draws have a peaked distribution; only plain draws are equal in all versions of Python.
        glucose = round(70 + 55 * (generator.random() + generator.random()) + age / 5)
        pressure = round(90 + 35 * (generator.random() + generator.random()) + age / 4)
        bmi = round(18 + 9 * (generator.random() + generator.random()), 1)
        smoker = "yes" if generator.random() < 0.3 else "no"
        visit = date(2024, 1, 8) + timedelta(days=generator.randrange(360))
        high = (glucose > 155 and age > 40) or (smoker == "yes" and pressure > 142)
        # One label in a hundred is wrong.
        risk = "high" if high != (generator.random() < 0.01) else "low"
        lines.append(f"{age},{sex},{glucose},{pressure},{bmi},{smoker},{visit},{risk}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PATH.write_text(patients(), encoding="utf-8", newline="")
